"""What a compute does with the tiles that are there, as statements: one rule for each form of a kernel.

Sums begin with what the result holds. Where they are rounded, their order counts: the reduction's indices
ascending, the last one fastest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from axiloom.isa.instructions.arithmetic import ZERO, RangeError, all_of, apply, choice, minus, plus, times
from axiloom.isa.instructions.tree import (
    Bits,
    Call,
    Const,
    Expr,
    For,
    Name,
    Range,
    Read,
    Statement,
    Wrapped,
    Write,
    signed,
    unsigned,
)  # fmt: skip
from axiloom.isa.kernels.forms import CHANNELS, COPY, IMAGE, MATMUL
from axiloom.isa.kernels.language.body import evaluate
from axiloom.isa.kernels.language.kernel import Kernel
from axiloom.isa.numerics import INT8
from axiloom.isa.opcode_map.state import Part


def nest(part: Part, loops: Mapping[str, Expr], inner: Callable[..., Sequence[Statement]]) -> list[Statement]:
    """Loops, outermost first; `inner` makes the body from their iterators."""
    iterators = [
        Name(part.names.new(f"i_{stem}"), Range(0, max(0, count.range.high - 1)))
        for stem, count in loops.items()
    ]
    body = (*inner(*iterators),)
    for iterator, count in reversed([*zip(iterators, loops.values(), strict=True)]):
        body = (For(iterator, ZERO, count, body),)
    return [*body]


def wrapped(value: Expr, kind: Range) -> Expr:
    return value if kind.holds(value.range) else Wrapped(value, kind)


def compute(part: Part) -> list[Statement]:
    """The result, joined with what the kernel says of the tile, or in its place."""
    if part.form.saves:
        return _window(part)
    rules = {MATMUL.name: _matmul, IMAGE.name: _image, COPY.name: _copy}
    return rules.get(part.form.name, _generic)(part)


def in_place(part: Part, kernel: Kernel) -> list[Statement]:
    """Each element of the result, sent through a kernel of one input."""

    def element(place: Name) -> list[Statement]:
        own = Read(part.buffers[part.out], (place,))
        value = evaluate(kernel.body, {kernel.inputs[0]: own}, operations(part))
        return [Write(own.memory, own.index, wrapped(value, part.sums))]

    return nest(part, {"x": part.count(part.out)}, element)


def requantised(part: Part) -> list[Statement]:
    """Results as int8 (:mod:`axiloom.isa.kernels.requantise`), each with its channel's bias and scale."""
    out, sizes = part.outgoing[INT8], {dim: part.held(part.sizes[dim]) for dim in part.dims(part.out)}
    if part.form.saves:  # its tiles have one channel
        sizes = {"x": part.saved}

    def element(*iterators: Name) -> list[Statement]:
        channel: Expr = ZERO
        total = Read(part.buffers[part.out], iterators)
        if not part.form.saves:
            index = dict(zip(sizes, iterators, strict=True))
            total, channel = part.read(part.out, index), times(index[part.form.channel], Const(2))
        bias, scale = (Read(part.buffers[CHANNELS], (plus(channel, Const(word)),)) for word in (0, 1))
        multiplier, shift = Bits(scale, ZERO, 16), Bits(scale, Const(16), 6)
        scaled = apply("mul", wrapped(apply("add", total, bias), signed(32)), multiplier)
        power = apply("shl", Const(1), apply("max", minus(shift, Const(1)), ZERO))
        half = choice(apply("lt", ZERO, shift), power, ZERO)
        zero, low, high = (part.sizes[name].expr for name in ("zp", "lo", "hi"))
        moved = plus(apply("shr", plus(scaled, half), shift), zero)
        value = apply("min", apply("max", moved, low), high)
        return [Write(out, total.index, wrapped(value, signed(8)))]

    return nest(part, sizes, element)


# --- arithmetic -------------------------------------------------------------------------------------------


def operations(part: Part) -> Mapping[str, Callable[..., Expr]]:
    """Operations of bodies on results: those of integers, or the format's own on bit patterns."""
    kind = part.result

    def called(operation: str) -> Callable[..., Expr]:
        patterns = unsigned(kind.bits)
        return lambda *arguments: Call(
            part.external(kind, operation), tuple(wrapped(argument, patterns) for argument in arguments)
        )

    def low(value: Expr) -> Expr:
        return wrapped(value, part.sums)

    def modulo(operation: str) -> Callable[..., Expr]:
        """What wraps at the end may as well wrap late."""

        def operate(*arguments: Expr) -> Expr:
            try:
                return apply(operation, *arguments)
            except RangeError:
                return apply(operation, *map(low, arguments))

        return operate

    def ordered(operation: str) -> Callable[..., Expr]:
        return lambda a, b: apply(operation, low(a), low(b))

    if not kind.integral:
        rules = {name: called(name) for name in ("add", "sub", "mul", "neg", "max", "min", "abs", "copy")}
        return rules | {"number": lambda number: Const(int(kind.encode(kind.nearest(number))))}
    rules = {name: modulo(name) for name in ("add", "sub", "mul", "neg")}
    rules |= {name: ordered(name) for name in ("max", "min")}
    rules["abs"] = lambda value: rules["max"](value, rules["neg"](low(value)))
    rules["number"] = lambda number: Const(int(kind.nearest(number)))
    return rules


def _added(part: Part, total: Read, a: Expr, b: Expr) -> list[Statement]:
    """A sum, with one product more."""
    if part.sums.signed:
        value = wrapped(apply("add", total, apply("mul", a, b)), part.sums)
    else:
        product = Call(part.external(part.kind, "product"), (a, b))
        value = Call(part.external(part.result, "add"), (total, product))
    return [Write(total.memory, total.index, value)]


# --- forms ------------------------------------------------------------------------------------------------


def _matmul(part: Part) -> list[Statement]:
    """C[m,n] += A[m,k] B[k,n]."""

    def inner(*iterators: Name) -> list[Statement]:
        index = dict(zip("mnk", iterators, strict=True))
        return _added(part, part.read("C", index), part.read("A", index), part.read("B", index))

    return nest(part, {dim: part.held(part.sizes[dim]) for dim in "mnk"}, inner)


def _copy(part: Part) -> list[Statement]:
    """C[n] += A[n]."""

    def inner(place: Name) -> list[Statement]:
        total = part.read("C", {"n": place})
        value = apply("add", total, part.read("A", {"n": place}))
        return [Write(total.memory, total.index, wrapped(value, part.sums))]

    return nest(part, {"n": part.count("C")}, inner)


def _window(part: Part) -> list[Statement]:
    """total += F . I."""
    total = Read(part.total, (ZERO,))

    def inner(place: Name) -> list[Statement]:
        return _added(part, total, *(Read(part.buffers[operand], (place,)) for operand in "FI"))

    return nest(part, {"x": part.count("I")}, inner)


def _image(part: Part) -> list[Statement]:
    """O[oc,oh,ow] += F[oc,ic,fh,fw] I'[ic, oh sh + fh dh - pt, ow sw + fw dw - pl]; I' is 0 outside I."""
    size = {name: value.expr for name, value in part.sizes.items()}

    def inner(*iterators: Name) -> list[Statement]:
        index: dict[str, Expr] = dict(zip(dims, iterators, strict=True))
        inside = []
        for image, out, taps, stride, dilation, padding in (
            ("ih", "oh", "fh", "sh", "dh", "pt"),
            ("iw", "ow", "fw", "sw", "dw", "pl"),
        ):
            reach = plus(times(index[out], size[stride]), times(index[taps], size[dilation]))
            index[image] = minus(reach, size[padding])
            inside += [apply("le", ZERO, index[image]), apply("lt", index[image], size[image])]
        pixel = choice(all_of(inside), part.read("I", index), ZERO)
        return _added(part, part.read("O", index), part.read("F", index), pixel)

    dims = ("oc", "oh", "ow", "ic", "fh", "fw")
    return nest(part, {dim: size[dim] for dim in dims}, inner)


def _generic(part: Part) -> list[Statement]:
    """As the body of a kernel says."""
    kernel, kind = part.form.computes, part.result
    assert kernel is not None
    rules = operations(part)

    def element(operand: str, iterators: Mapping[str, Expr]) -> Read:
        index: dict[str, Expr] = {}
        for dim, sums in kernel.maps[operand].items():
            index[dim] = ZERO
            for iterator, factor in sums.terms.items():
                scale = part.sizes[factor].expr if isinstance(factor, str) else Const(factor)
                index[dim] = plus(index[dim], times(iterators[iterator], scale))
        return part.read(operand, index)

    def inner(*names: Name) -> list[Statement]:
        iterators = dict(zip(order, names, strict=True))
        tiles: dict[str, Expr] = {operand: element(operand, iterators) for operand in kernel.inputs}
        if kind is not part.kind and not kind.integral:
            widen = part.external(part.kind, "widen")
            tiles = {operand: Call(widen, (value,)) for operand, value in tiles.items()}
        own, value = element(kernel.output, iterators), evaluate(kernel.term, tiles, rules)
        if isinstance(value, Read) and not kind.integral:
            value = rules["copy"](value)
        if kernel.combine is not None:
            value = rules[kernel.combine](own, value)
        return [Write(own.memory, own.index, wrapped(value, part.sums))]

    parallel = [name for name in kernel.iterators if name not in kernel.reductions]
    # A product over the turns of a reduction is made turn by turn, all elements at once.
    last = kernel.combine == "mul" and kind.integral
    order = [*kernel.reductions, *parallel] if last else [*parallel, *kernel.reductions]
    return nest(part, {name: part.held(part.sizes[name]) for name in order}, inner)
