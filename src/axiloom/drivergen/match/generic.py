"""Is this `linalg.generic` a given kernel, and which of its loops and operands is which?

The order of loops, of inputs and of an operand's dims does not matter, nor does the order of what is added or
multiplied: the body must be the kernel's, and the indexing maps must pair the loops up as the kernel's do.
Loops that the kernel has not are loops of the host, each over a dim of its own in some operand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import BlockArgument, Operation, SSAValue

from axiloom.drivergen.match.matmul import Match, NoMatchError, host_dim, terms
from axiloom.isa.kernels.language.body import Apply, Body, Name, Number, canonical, names, renamed
from axiloom.isa.kernels.language.kernel import PARALLEL, Kernel

UNUSED = "unused"
"""What an operand is called that the body does not read: a pooling's window, which has a shape and no
more."""

_OPERATIONS: Mapping[type[Operation], str] = {
    arith.AddiOp: "add",
    arith.AddfOp: "add",
    arith.SubiOp: "sub",
    arith.SubfOp: "sub",
    arith.MuliOp: "mul",
    arith.MulfOp: "mul",
    arith.MaxSIOp: "max",
    arith.MaximumfOp: "max",
    arith.MinSIOp: "min",
    arith.MinimumfOp: "min",
    arith.NegfOp: "neg",
    math.AbsIOp: "abs",
    math.AbsFOp: "abs",
}
_COMPARING = ("max", "min", "abs")
_WIDENED = (arith.ExtSIOp, arith.ExtUIOp, arith.ExtFOp)
"""What the device does by itself: narrow elements are widened before anything is computed."""


def match_kernel(op: linalg.GenericOp, kernel: Kernel) -> Match:
    """Names for loops and operands of `op`, and values of the kernel's settings; raises NoMatchError."""
    body = body_of(op)
    read = set(names(body))
    result = str(len(op.operands) - 1)
    inputs = [str(number) for number in range(len(op.operands) - 1) if str(number) in read]
    if len(op.outputs) != 1 or len(inputs) != len(kernel.inputs):
        raise NoMatchError(f"it reads {len(inputs)} operands, {kernel.name} reads {len(kernel.inputs)}")
    own = canonical(kernel.body)
    same_body = False
    for order in permutations(inputs):
        named = dict(zip((*order, result), (*kernel.inputs, kernel.output), strict=True))
        if canonical(renamed(body, named)) != own:
            continue
        same_body = True
        for loops in _assignments(op, kernel, named):
            settings = _settings(op, kernel, named, loops)
            if settings is not None:
                return _named(op, kernel, named, loops, settings)
    if same_body:
        raise NoMatchError(f"its indexing maps are not those of {kernel.name}")
    raise NoMatchError(f"its body is {renamed(body, _letters(op))}, that of {kernel.name} is {kernel.body}")


# --- the body ----------------------------------------------------------------------------------------


def body_of(op: linalg.GenericOp) -> Body:
    """The body, with numbers of operands as their names."""
    last = op.body.block.last_op
    if last is None or len(last.operands) != 1:
        raise NoMatchError("it has several results")
    return _scalar(last.operands[0])


def _scalar(value: SSAValue) -> Body:
    if isinstance(value, BlockArgument):
        return Name(str(value.index))
    maker = value.owner
    assert isinstance(maker, Operation)
    if isinstance(maker, _WIDENED):
        _same_when_wide(maker, (inner := _scalar(maker.operands[0]),))
        return inner
    if isinstance(maker, arith.ConstantOp) and isinstance(maker.value, IntegerAttr | FloatAttr):
        return Number(maker.value.value.data)
    if type(maker) not in _OPERATIONS:
        raise NoMatchError(f"no kernel's body has {maker.name}")
    operation, arguments = _OPERATIONS[type(maker)], tuple(map(_scalar, maker.operands))
    if operation in _COMPARING:
        _same_when_wide(maker, arguments)
    return Apply(operation, arguments)


def _same_when_wide(op: Operation, arguments: tuple[Body, ...]) -> None:
    """Raises NoMatchError where `op` sees that its arguments wrapped at fewer bits than the device's 32.

    Sums and products may wrap early or late, which is the same in the lowest bits.
    """
    kind = op.operands[0].type
    if isinstance(kind, IntegerType) and kind.width.data < 32 and not all(map(_never_wraps, arguments)):
        raise NoMatchError(f"{op.name} takes what was computed in {kind}, and the device computes in int32")


def _never_wraps(body: Body) -> bool:
    if isinstance(body, Apply):
        return body.operation in ("max", "min") and all(map(_never_wraps, body.arguments))
    return True


def _letters(op: linalg.GenericOp) -> dict[str, str]:
    return {str(number): f"%{number}" for number in range(len(op.operands))}


# --- loops -------------------------------------------------------------------------------------------


def _assignments(op: linalg.GenericOp, kernel: Kernel, named: Mapping[str, str]) -> Iterator[dict[int, str]]:
    """Each way to give loops of `op` the names of the kernel's iterators; the innermost ones first."""
    used: dict[str, set[str]] = {
        name: {
            operand for operand, dims in kernel.maps.items() if any(name in i.terms for i in dims.values())
        }
        for name in kernel.iterators
    }
    kinds = [attr.data for attr in op.get_iterator_types()]
    seen: list[set[str]] = [set() for _ in kinds]
    for number, operand in named.items():
        for expression in op.indexing_maps.data[int(number)].data.results:
            for loop in terms(expression):
                seen[loop].add(operand)
    iterators = [*kernel.iterators][::-1]

    def assign(at: int, taken: dict[int, str]) -> Iterator[dict[int, str]]:
        if at == len(iterators):
            yield dict(taken)
            return
        name = iterators[at]
        wanted = IteratorType.PARALLEL if kernel.iterators[name] == PARALLEL else IteratorType.REDUCTION
        for loop in reversed(range(len(kinds))):
            if loop not in taken and kinds[loop] == wanted and seen[loop] == used[name]:
                yield from assign(at + 1, {**taken, loop: name})

    for loops in assign(0, {}):
        if all(kinds[loop] == IteratorType.PARALLEL for loop in range(len(kinds)) if loop not in loops):
            yield loops


def _settings(
    op: linalg.GenericOp, kernel: Kernel, named: Mapping[str, str], loops: Mapping[int, str]
) -> dict[str, int] | None:
    """Values of the kernel's settings under which all indexing maps are its own; None: there are none."""
    found: dict[str, int] = {}
    for number, operand in named.items():
        left = dict(kernel.maps[operand])
        for expression in op.indexing_maps.data[int(number)].data.results:
            factors = terms(expression)
            own = {loops[loop]: factor for loop, factor in factors.items() if loop in loops}
            if not own:
                continue  # a loop of the host, or one element
            if len(own) != len(factors):
                return None
            dim = next((dim for dim, index in left.items() if index.terms.keys() == own.keys()), None)
            if dim is None:
                return None
            index = left.pop(dim)
            if index.plain is not None:
                continue  # a factor is a step in the host's memory
            for name, factor in index.terms.items():
                if isinstance(factor, int) and factor != own[name]:
                    return None
                if isinstance(factor, str) and found.setdefault(factor, own[name]) != own[name]:
                    return None
        if left:
            return None
    return found


def _named(
    op: linalg.GenericOp,
    kernel: Kernel,
    named: Mapping[str, str],
    loops: Mapping[int, str],
    settings: Mapping[str, int],
) -> Match:
    everything = dict(loops)
    for loop in range(len(op.get_iterator_types())):
        everything.setdefault(loop, host_dim(list(everything.values())))
    dims = tuple(everything[loop] for loop in range(len(everything)))
    operands = tuple(named.get(str(number), UNUSED) for number in range(len(op.operands)))
    values = {name: settings.get(name, 1) for name in kernel.settings}
    return Match(dims, operands, values, tuple(kernel.iterators))
