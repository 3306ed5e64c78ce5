"""From a module of torch ops to linalg on tensors, in a form that the compiler reads.

torch-mlir does the lowering. What it leaves that xDSL cannot read is rewritten here: named linalg ops that
xDSL does not have become `linalg.generic`, results that nobody uses go, and so do the run-time checks of
indices (`cf.assert`), for which a driver without an operating system has no handler.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import linalg
from torch_mlir.passmanager import PassManager

from axiloom.base.attributes import TYPES
from axiloom.base.errors import CompileError
from axiloom.drivergen.dialects.mlir import context
from axiloom.read.context.model import Array
from axiloom.read.pytorch.lift import lift

FROM_TORCH = "func.func(torch-match-quantized-custom-ops),torchdynamo-export-to-torch-backend-pipeline"
FROM_ONNX = "torch-onnx-to-torch-backend-pipeline"
_TO_LINALG = "torch-backend-to-linalg-on-tensors-backend-pipeline"
_TIDY = "func.func(canonicalize,cse)"

_ALIAS = re.compile(r"^#loc\d* = .*\n", re.MULTILINE)


def lower(
    module: Any,
    pipeline: str,
    name: str,
    names: Mapping[bytes, str],
    types: Mapping[str, Sequence[np.dtype[Any]]] | None = None,
) -> tuple[str, dict[str, Array]]:
    """MLIR text of `module` (an ir.Module of torch ops), and its weights, called `names` of their bytes.

    `types`: of ``input`` and ``output``, as the model has them: integers of linalg have no sign, and where
    one is unsigned the function says so. Raises CompileError that names the op and its place.
    """
    with module.context:
        for passes in (pipeline, _TO_LINALG, _TIDY):
            _run(passes, module, name)
        *more, function = module.body.operations
        if more:
            raise CompileError(
                f"{name}: {more[0].operation.name}: state, as random numbers have, is not compiled"
            )
        block = function.regions[0].blocks[0]
        readable = context()
        refused = []
        for op in list(block.operations):
            if op.operation.name.startswith("scf."):  # of recurrent ops, If and Loop
                refused.append(f"{_named(op)}: control flow, which is not compiled")
                continue
            _drop_checks(op)
            _cut_padding(op)
            if op.operation.name == "linalg.generic":
                _drop_unused_results(op)
            elif (
                op.operation.name.startswith("linalg.")
                and readable.get_optional_op(op.operation.name) is None
            ):
                _generalise(op)
            elif readable.get_optional_op(op.operation.name) is None:
                refused.append(f"{_named(op)}: what torch-mlir makes of the line is not compiled")
        if refused:
            raise CompileError("\n".join(f"{name}: {why}" for why in dict.fromkeys(refused)))
        _run(_TIDY, module, name)
        for op in block.operations:
            _check_slice(op, name)
        weights = lift(module, names)
        for what, kinds in (types or {}).items():
            if any(kind.kind == "u" for kind in kinds):
                words = [ir.StringAttr.get(str(kind)) for kind in kinds]
                function.operation.attributes[TYPES.format(what)] = ir.ArrayAttr.get(words)
        module.operation.verify()
    return _text(module), weights


def _run(passes: str, module: Any, name: str) -> None:
    try:
        PassManager.parse(f"builtin.module({passes})").run(module.operation)
    except ir.MLIRError as error:
        raise CompileError(f"{name}: {_diagnosis(error)}") from None


def _diagnosis(error: Any) -> str:
    """The first error of MLIR in one line, with its place in the model."""
    for diagnostic in error.error_diagnostics:
        onnx = re.search(r'name = "onnx\.(\w+)"', diagnostic.message)
        if "torch.operator" in diagnostic.message and onnx is not None:
            place = _place(str(diagnostic.location))
            return (
                f"{place}{': ' if place else ''}ONNX op {onnx[1]}: torch-mlir does not lower this use of it"
            )
        op = re.search(r"'([\w.]+)'|operator \"?([\w.]+)", diagnostic.message)
        line = " ".join(diagnostic.message.split())
        place = _place(str(diagnostic.location))
        if op is not None or place:
            return f"{place}{': ' if place else ''}{line[:300]}"
    return " ".join(str(error).split())[:300]


def _named(op: Any) -> str:
    place = _place(str(op.operation.location))
    return f"{place}{': ' if place else ''}{op.operation.name}"


def _place(location: str) -> str:
    """``file:line`` within an MLIR location, or the name of an ONNX node; empty if it is unknown."""
    file = re.search(r'"([^"]+)":(\d+):\d+', location)
    if file is not None:
        return f"{file[1]}:{file[2]}"
    node = re.search(r'loc\("([^"]+)"', location)
    return node[1] if node is not None else ""


def _drop_checks(op: Any) -> None:
    for region in op.operation.regions:
        for block in region.blocks:
            for inner in list(block.operations):
                if inner.operation.name == "cf.assert":
                    inner.operation.erase()


def _check_slice(op: Any, name: str) -> None:
    """Raise CompileError for elements that are not there: torch-mlir makes such slices of those backwards."""
    if op.operation.name != "tensor.extract_slice":
        return
    attributes, operands = op.operation.attributes, iter(op.operation.operands)
    shape = ir.RankedTensorType(next(operands).type).shape
    words = ("static_offsets", "static_sizes", "static_strides")
    places = [[_known(number, operands) for number in ir.DenseI64ArrayAttr(attributes[w])] for w in words]
    for start, size, step, extent in zip(*places, shape, strict=True):
        if size is None or step is None:
            continue
        if (start is not None and start < 0) or (start or 0) + (size - 1) * step >= extent:
            place = _place(str(op.operation.location))
            raise CompileError(
                f"{name}: {place}{': ' if place else ''}a slice of elements that are not there"
            )


def _known(number: int, operands: Iterator[Any]) -> int | None:
    """A place of a slice; where it is the next operand, that of a constant, None for others."""
    if number != -(1 << 63):
        return number
    owner = next(operands).owner
    constant = isinstance(owner, ir.Operation | ir.OpView) and owner.name == "arith.constant"
    return int(ir.IntegerAttr(owner.attributes["value"]).value) if constant else None


def _cut_padding(op: Any) -> None:
    """A padding that is negative becomes a slice in front of one that is not."""
    if op.operation.name != "tensor.pad":
        return
    attributes, source = op.operation.attributes, op.operation.operands[0]
    low, high = (list(ir.DenseI64ArrayAttr(attributes[side])) for side in ("static_low", "static_high"))
    if all(edge >= 0 for edge in (*low, *high)):
        return
    begins, ends = ([max(-edge, 0) for edge in side] for side in (low, high))
    shape = ir.RankedTensorType(source.type)
    sizes = [size - begin - end for size, begin, end in zip(shape.shape, begins, ends, strict=True)]
    places = {"offsets": begins, "sizes": sizes, "strides": [1] * len(sizes)}
    with ir.InsertionPoint(op), op.operation.location:
        cut = ir.Operation.create(
            "tensor.extract_slice",
            results=[ir.RankedTensorType.get(sizes, shape.element_type)],
            operands=[source],
            attributes={
                **{f"static_{name}": ir.DenseI64ArrayAttr.get(place) for name, place in places.items()},
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0, 0]),
            },
        )
        op.operation.operands[0] = cut.result
        for side, edges in (("static_low", low), ("static_high", high)):
            attributes[side] = ir.DenseI64ArrayAttr.get([max(edge, 0) for edge in edges])


def _drop_unused_results(op: Any) -> None:
    """Results of a generic that nobody uses go, with what computes them (the index of a maximum)."""
    old = op.operation
    results = list(old.results)
    dead = [number for number, result in enumerate(results) if not list(result.uses)]
    if not dead or len(dead) == len(results):
        return
    kept = [number for number in range(len(results)) if number not in dead]
    ins, outs = _operands(old)
    maps = list(old.attributes["indexing_maps"])
    maps = maps[: len(ins)] + [maps[len(ins) + number] for number in kept]
    block = old.regions[0].blocks[0]
    arguments = list(block.arguments)
    terminator = list(block.operations)[-1].operation
    needed = [terminator.operands[number] for number in kept]
    if any(_depends(value, arguments[len(ins) + number]) for value in needed for number in dead):
        return
    new = _generic(old, ins, [outs[number] for number in kept], maps, old.attributes["iterator_types"])
    for after, before in zip(new.results, [results[number] for number in kept], strict=True):
        before.replace_all_uses_with(after)
    with ir.InsertionPoint(terminator), old.location:
        ir.Operation.create("linalg.yield", operands=needed)
    terminator.erase()
    block.append_to(new.regions[0])
    _erase_dead(new.regions[0].blocks[0])
    for number in reversed(dead):
        new.regions[0].blocks[0].erase_argument(len(ins) + number)
    old.erase()


def _erase_dead(block: Any) -> None:
    for op in reversed(list(block.operations)):
        results = list(op.operation.results)
        if results and not any(list(result.uses) for result in results):
            op.operation.erase()


def _depends(value: Any, on: Any) -> bool:
    if value == on:
        return True
    if isinstance(value, ir.BlockArgument):
        return False
    return any(_depends(operand, on) for operand in value.owner.operands)


def _generalise(op: Any) -> None:
    """A named op becomes the generic that it stands for: MLIR keeps maps and body in it already."""
    old = op.operation
    ins, outs = _operands(old)
    maps = list(linalg.get_indexing_maps(old))
    loops = ir.AffineMapAttr(maps[0]).value.n_dims
    parallel = {
        ir.AffineDimExpr(e).position
        for m in maps[len(ins) :]
        for e in ir.AffineMapAttr(m).value.results
        if isinstance(e, ir.AffineDimExpr)
    }
    kinds = ir.ArrayAttr.get(
        [
            ir.Attribute.parse(f"#linalg.iterator_type<{'parallel' if loop in parallel else 'reduction'}>")
            for loop in range(loops)
        ]
    )
    new = _generic(old, ins, outs, maps, kinds)
    old.regions[0].blocks[0].append_to(new.regions[0])
    for before, after in zip(old.results, new.results, strict=True):
        before.replace_all_uses_with(after)
    old.erase()


def _generic(old: Any, ins: list[Any], outs: list[Any], maps: list[Any], kinds: Any) -> Any:
    """An empty `linalg.generic` in front of `old`."""
    with ir.InsertionPoint(old), old.location:
        return ir.Operation.create(
            "linalg.generic",
            results=[value.type for value in outs],
            operands=[*ins, *outs],
            attributes={
                "indexing_maps": ir.ArrayAttr.get(maps),
                "iterator_types": kinds,
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(ins), len(outs)]),
            },
            regions=1,
        )


def _operands(op: Any) -> tuple[list[Any], list[Any]]:
    """Inputs and outputs of a linalg op."""
    operands = list(op.operands)
    split = len(operands) - len(op.results)
    return operands[:split], operands[split:]


def _text(module: Any) -> str:
    """The module as text; places (`#loc`) in front of their use, where xDSL wants them."""
    text = module.operation.get_asm(enable_debug_info=True)
    text = text.partition("\n{-#")[0].rstrip() + "\n"
    return "".join(_ALIAS.findall(text)) + _ALIAS.sub("", text)
