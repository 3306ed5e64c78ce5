"""Weights as the layers' drivers want them: packed by tiles, bias and scale put together; once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, IntegerType, StringAttr, TensorType, UnitAttr
from xdsl.ir import BlockArgument, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from axiloom.base.attributes import WEIGHT
from axiloom.drivergen.c.driver import Driver
from axiloom.drivergen.nest.packed import CONSTANT, argument_attributes, made_of, set_attributes
from axiloom.drivergen.network.passes.fold_constants import weight_names

Array = np.ndarray[Any, Any]


def mark(function: func.FuncOp, outside: list[SSAValue], network: func.FuncOp) -> None:
    """Say of a layer's arguments which are weights of the network, `outside` being passed for them."""
    names = weight_names(network)
    attributes = argument_attributes(function)
    for attrs, value in zip(attributes, outside, strict=True):
        if isinstance(value, BlockArgument) and value.block is network.body.block and names[value.index]:
            attrs[CONSTANT] = UnitAttr()
    if any(attributes):
        set_attributes(function, attributes)


def prepare(network: func.FuncOp, drivers: Mapping[str, Driver], known: dict[str, Array]) -> None:
    """Let each call pass what the layer's driver takes, and put the arrays of that into `known`.

    `network` has the calls of layers (by name in `drivers`); new arguments come behind its others.
    """
    prepared: dict[tuple[object, ...], SSAValue] = {}
    for call in [op for op in network.body.block.ops if isinstance(op, func.CallOp)]:
        driver = drivers.get(call.callee.root_reference.data)
        if driver is None or not (driver.packings or any(len(origin) > 1 for origin in driver.origins)):
            continue
        passed: list[SSAValue] = []
        for number, sources in enumerate(driver.origins):
            values = [call.arguments[source] for source in sources if source < len(call.arguments)]
            packing = driver.packings.get(number)
            if not values or (len(values) == 1 and packing is None):
                passed += values
                continue
            names = [_name(network, value) for value in values]
            array = made_of([known[name] for name in names])
            array = array if packing is None else packing.apply(array)
            key = (*names, array.shape, array.tobytes())
            if key not in prepared:
                prepared[key] = _add(network, names[0], array, known)
            passed.append(prepared[key])
        new = func.CallOp(call.callee.root_reference.data, passed, list(call.result_types))
        new.location = call.location
        Rewriter.insert_op(new, InsertPoint.before(call))
        for old, result in zip(call.res, new.res, strict=True):
            result.name_hint = old.name_hint
            old.replace_all_uses_with(result)
        Rewriter.erase_op(call)


def _name(network: func.FuncOp, value: SSAValue) -> str:
    assert isinstance(value, BlockArgument)
    name = weight_names(network)[value.index]
    assert name is not None, "only weights are constants of a layer"
    return name


def _add(network: func.FuncOp, name: str, array: Array, known: dict[str, Array]) -> SSAValue:
    """A new argument of the network, for `array`."""
    block, attributes = network.body.block, argument_attributes(network)
    label, number = f"{name}.packed", 1
    while label in known:
        number += 1
        label = f"{name}.packed{number}"
    known[label] = array
    value = block.insert_arg(TensorType(IntegerType(8 * array.itemsize), array.shape), len(block.args))
    attributes.append({WEIGHT: StringAttr(label)})
    network.function_type = FunctionType.from_lists(block.arg_types, network.function_type.outputs.data)
    set_attributes(network, attributes)
    return value


def is_read(network: func.FuncOp, name: str) -> bool:
    """Does any layer still need a weight?"""
    names = weight_names(network)
    return any(label == name and arg.first_use for arg, label in zip(network.args, names, strict=True))
