"""Programs of ``torch.export``: every ATen operation becomes operations of the graph, weights constants.

Each result is checked against the shape and type that torch recorded. An operation without a rule, and an
argument that a rule does not honour, is refused. Numbers are those of torch; float sums have no order.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from axiloom.graph.graph import Graph, Node, Type
from axiloom.graph.numbers import Array
from axiloom.read.aten.call import Call, Made
from axiloom.read.aten.registry import RULES
from axiloom.read.context import Context, ReadError

_NUMBERS: Mapping[Any, str] = {
    torch.float32: "float32", torch.float64: "float64", torch.float16: "float16", torch.bfloat16: "bfloat16",
    torch.int8: "int8", torch.int16: "int16", torch.int32: "int32", torch.int64: "int64",
    torch.uint8: "uint8", torch.bool: "bool",
}  # fmt: skip
_IGNORED = ("_assert_tensor_metadata", "_assert_scalar", "sym_constrain_range_for_size")


def load(path: Path) -> Graph:
    """A ``.pt2`` file of ``torch.export.save``. Raises ReadError."""
    try:
        program = torch.export.load(path)
    except Exception as error:
        reason = str(error).strip().splitlines()[:1]
        raise ReadError(
            f"{path}: torch.export cannot load it: {(reason or [type(error).__name__])[0]}"
        ) from None
    return read_program(program, path.stem)


def read_program(program: Any, name: str) -> Graph:
    """An ``ExportedProgram``: what users give are parameters. Raises ReadError."""
    if any(_changes(node) for node in program.graph.nodes):
        program = program.run_decompositions({})  # the same operations, each with a result of its own
    context, values = Context(name), dict[Any, Any]()
    parameters = _leaves(context, program, values)
    for node in program.graph.nodes:
        if node.op == "call_function":
            context.place = _place(node)
            values[node] = _called(context, node, values)
        elif node.op not in ("placeholder", "output"):
            raise context.error(f"a node of kind {node.op}: weights and operations are read")
    context.place = "results"
    return context.graph(parameters, list(_results(context, program, values)), name)


def raw_of(tensor: Any) -> Array:
    """Raw host values of a tensor: bfloat16 as uint16."""
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype is torch.bfloat16:
        return np.asarray(tensor.view(torch.int16).numpy().view(np.uint16))
    return np.asarray(tensor.numpy())


def _leaves(context: Context, program: Any, values: dict[Any, Any]) -> list[Node]:
    parameters: list[Node] = []
    specs = program.graph_signature.input_specs
    contents = {**program.state_dict, **program.constants}
    nodes = [node for node in program.graph.nodes if node.op == "placeholder"]
    for node, spec in zip(nodes, specs, strict=True):
        context.place = node.name
        if spec.kind.name == "USER_INPUT":
            values[node] = node.meta["val"]
            if isinstance(node.meta["val"], torch.Tensor):
                values[node] = context.parameter(node.name, _type(context, node.meta["val"]))
                parameters.append(values[node])
        elif spec.kind.name in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            tensor = contents[spec.target]
            values[node] = context.constant(raw_of(tensor), _type(context, tensor).number, spec.target)
        else:
            raise context.error(f"an input of kind {spec.kind.name}: tensors are read")
    return parameters


def _results(context: Context, program: Any, values: Mapping[Any, Any]) -> Iterator[Node]:
    (output,) = (node for node in program.graph.nodes if node.op == "output")
    for node, spec in zip(output.args[0], program.graph_signature.output_specs, strict=True):
        if spec.kind.name != "USER_OUTPUT":
            raise context.error(
                f"a result of kind {spec.kind.name}: a program that changes nothing is needed"
            )
        if not isinstance(values.get(node), Node):
            raise context.error("a result that is no tensor")
        yield values[node]


def _called(context: Context, node: Any, values: Mapping[Any, Any]) -> Any:
    if node.target is operator.getitem:
        return _item(context, node, values)
    schema = getattr(node.target, "_schema", None)
    name = schema.name if schema else str(node.target)
    plain = name.removeprefix("aten::")
    if plain in _IGNORED:
        return None
    rule = RULES.get(plain) if name.startswith("aten::") else None
    if rule is None or schema is None:
        raise context.error(f"{name} is not read; known are {', '.join(sorted(RULES))}")
    results = node.meta["val"]
    several = isinstance(results, tuple | list)
    types = [_type(context, result) for result in (results if several else (results,))]
    call = Call(
        context, plain, _arguments(schema, node, values), tuple(type_.shape for type_ in types),
        tuple(type_.number for type_ in types),
    )  # fmt: skip
    outcome = rule(call)
    _check(context, plain, outcome, types)
    return (outcome,) if several and isinstance(outcome, Node) else outcome


def _changes(node: Any) -> bool:
    """Whether an operation writes over an operand."""
    return bool(getattr(getattr(node.target, "_schema", None), "is_mutable", False))


def _item(context: Context, node: Any, values: Mapping[Any, Any]) -> Node:
    of, at = node.args
    value = values[of]
    if not isinstance(value, tuple) or at >= len(value):
        raise context.error(f"result {at} of {of.name} is not read")
    result: Node = value[at]
    return result


def _check(context: Context, name: str, outcome: Made, types: Sequence[Type]) -> None:
    for node, wanted in zip(outcome if isinstance(outcome, tuple) else (outcome,), types, strict=False):
        if node.type != wanted:
            raise context.error(f"{name} became {node.type}, where torch has {wanted}")


def _arguments(schema: Any, node: Any, values: Mapping[Any, Any]) -> dict[str, Any]:
    """By the schema's names, with its defaults."""

    def value(argument: Any) -> Any:
        if isinstance(argument, torch.fx.Node):
            return values[argument]
        return [value(element) for element in argument] if isinstance(argument, list | tuple) else argument

    names = [argument.name for argument in schema.arguments]
    arguments = {
        argument.name: argument.default_value for argument in schema.arguments if argument.has_default_value()
    }
    arguments.update(zip(names, map(value, node.args), strict=False))
    arguments.update({name: value(kwarg) for name, kwarg in node.kwargs.items()})
    return arguments


def _type(context: Context, tensor: Any) -> Type:
    if not isinstance(tensor, torch.Tensor):
        raise context.error(f"a {type(tensor).__name__} where a tensor is needed")
    if tensor.dtype not in _NUMBERS:
        raise context.error(f"tensors of {tensor.dtype}; read are {', '.join(map(str, _NUMBERS))}")
    if not all(isinstance(size, int) for size in tensor.shape):
        raise context.error(f"a shape {tuple(tensor.shape)} that is not known: export without dynamic shapes")
    return Type(tuple(tensor.shape), _NUMBERS[tensor.dtype])


def _place(node: Any) -> str:
    """The module that an operation belongs to, and its own name."""
    stack = node.meta.get("nn_module_stack") or {}
    inner = [str(path).removeprefix("L['self'].") for path, _ in stack.values()]
    return f"{inner[-1]}.{node.name}" if inner and inner[-1] else str(node.name)
