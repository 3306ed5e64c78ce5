"""What exporters write in several ONNX nodes, and is one op of a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx

Array = np.ndarray[Any, Any]


def with_biases(steps: list[Any], constants: dict[str, Any]) -> list[Any]:
    """MatMul with a known matrix, and Add of a known vector behind it, become one Gemm of any rank."""
    readers: dict[str, int] = {}
    for node, _ in steps:
        for key in node.input:
            readers[key] = readers.get(key, 0) + 1
    done: list[Any] = []
    products: dict[str, int] = {}
    for node, attributes in steps:
        if node.op_type == "MatMul" and node.input[1] in constants and constants[node.input[1]].ndim == 2:
            node = onnx.helper.make_node("Gemm", list(node.input), list(node.output), name=node.name)
            products[node.output[0]] = len(done)
        elif node.op_type == "Add":
            for product, bias in (node.input, node.input[::-1]):
                alone = readers.get(product) == 1 and product in products
                if alone and bias in constants and constants[bias].ndim == 1:
                    before = done.pop(products.pop(product))[0]
                    products = {key: at for key, at in products.items() if at < len(done)}
                    node = onnx.helper.make_node(
                        "Gemm", [*before.input, bias], list(node.output), name=before.name
                    )
                    break
        done.append((node, attributes if node.op_type != "Gemm" or attributes.get("transB") else {}))
    return done


def with_gelus(nodes: Sequence[Any], constants: Mapping[str, Array]) -> list[Any]:
    """``x * (erf(x / sqrt(2)) + 1) / 2``, in any order of the products, becomes one Gelu."""
    maker = {key: node for node in nodes for key in node.output}
    readers: dict[str, list[Any]] = {}
    for node in nodes:
        for key in node.input:
            readers.setdefault(key, []).append(node)
    gone: set[str] = set()
    gelus: dict[str, Any] = {}
    for erf in nodes:
        found = _gelu(erf, maker, readers, constants) if erf.op_type == "Erf" else None
        if found is not None:
            x, inner = found
            last = inner[-1]
            gone.update(key for node in inner for key in node.output)
            gelus[last.output[0]] = onnx.helper.make_node("Gelu", [x], list(last.output), name=last.name)
    return [
        gelus.get(node.output[0], node)
        for node in nodes
        if node.output[0] in gelus or not gone.intersection(node.output)
    ]


def _gelu(
    erf: Any, maker: Mapping[str, Any], readers: Mapping[str, list[Any]], constants: Mapping[str, Array]
) -> tuple[str, list[Any]] | None:
    """x and the nodes of the function around an Erf, the last of them last; None if it is another one."""
    scaled = maker.get(erf.input[0])
    if scaled is None:
        return None
    x, factor = _by_number(scaled, constants)
    if x is None or not np.isclose(factor, np.sqrt(0.5), rtol=1e-5):
        return None
    inner, at, half, times = [scaled, erf], erf.output[0], 1.0, False
    for _ in range(3):
        users = readers.get(at, [])
        if len(users) != 1:
            return None
        user = users[0]
        value, number = _by_number(user, constants)
        if user.op_type == "Add" and any(k in constants and np.all(constants[k] == 1) for k in user.input):
            pass
        elif value == at:
            half *= number
        elif user.op_type == "Mul" and x in user.input:
            times = True
        elif user.op_type == "Mul":
            # x / 2 on the other side
            other = next(key for key in user.input if key != at)
            source, part = _by_number(maker[other], constants) if other in maker else (None, 1.0)
            if source != x:
                return None
            inner.append(maker[other])
            half, times = half * part, True
        else:
            return None
        inner.append(user)
        at = user.output[0]
        if times and half == 0.5:
            shared = any(len(readers[key]) > 1 for node in inner[:-1] for key in node.output)
            return (x, inner) if any(node.op_type == "Add" for node in inner) and not shared else None
    return None


def _by_number(node: Any, constants: Mapping[str, Array]) -> tuple[str | None, float]:
    """x and c of a node that is ``x * c`` or ``x / c`` (then 1 / c) with a known number c, else None."""
    if node.op_type not in ("Mul", "Div") or len(node.input) != 2:
        return None, 1.0
    for x, c in (node.input, node.input[::-1]):
        if c in constants and constants[c].size == 1 and x not in constants:
            number = float(constants[c].flat[0])
            if node.op_type == "Mul":
                return x, number
            return (x, 1 / number) if x == node.input[0] else (None, 1.0)
    return None, 1.0
