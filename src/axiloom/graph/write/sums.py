"""Products, convolutions, folds and tables: generics with loops that reduce."""

from __future__ import annotations

from collections.abc import Sequence

from axiloom.graph.graph import GraphError, Node, Type
from axiloom.graph.numbers import number
from axiloom.graph.ops.convolution import dims_of
from axiloom.graph.write.moves import ints, padded, reshaped
from axiloom.graph.write.registry import register
from axiloom.graph.write.scalars import Body, converted
from axiloom.graph.write.text import Operand, Text, dims, element, spelled

NEUTRAL = {"add": "0", "mul": "1", "and": "1", "or": "0"}
FOLDS = {
    ("add", "integer"): "arith.addi", ("add", "float"): "arith.addf",
    ("mul", "integer"): "arith.muli", ("mul", "float"): "arith.mulf",
    ("max", "integer"): "arith.maxsi", ("max", "float"): "arith.maximumf",
    ("min", "integer"): "arith.minsi", ("min", "float"): "arith.minimumf",
    ("and", "bool"): "arith.andi", ("or", "bool"): "arith.ori",
}  # fmt: skip


def _product(
    text: Text, a: Operand, b: Operand, out: Operand, *, rank: int, reduced: Sequence[int], doc: str
) -> str:
    """Sums of products in the result's number, which both factors are converted to first."""
    of = out[1].number
    body = Body(text, "ps" if a[1].number == b[1].number == of else "xfps")
    factors = [converted(body, f"%a{i}", type_.number, of) for i, (_, type_, _) in enumerate((a, b))]
    kind = number(of).kind
    if kind == "bool":
        raise GraphError(f"products of {of}")
    factor = body.compute("arith.mulf" if kind == "float" else "arith.muli", of, *factors)
    body.compute(FOLDS["add", kind], of, "%o", factor)
    return text.generic([a, b], out, body.lines, rank=rank, reduced=reduced, doc=doc)


def _named(text: Text, op: str, a: tuple[str, Type], b: tuple[str, Type], start: str) -> str:
    """An op of linalg whose body is what its name says; integers have signs there."""
    (first, of_a), (second, of_b), whole = a, b, spelled(text.node.type)
    types = f"{spelled(of_a)}, {spelled(of_b)}"
    return text.line(f"{op} ins({first}, {second} : {types}) outs({start} : {whole}) -> {whole}")


def _signed(*types: Type) -> bool:
    return all(number(type_.number).signed for type_ in types)


_NAMED: dict[tuple[tuple[int, ...], ...], str] = {
    ((), (), (1,), (0,)): "linalg.matmul",
    ((0,), (0,), (2,), (1,)): "linalg.batch_matmul",
}
"""By batch and contracting dimensions, where each operand has one more."""


def _dot_general(text: Text, node: Node) -> str:
    a, b = node.operands
    lb, rb = ints(node, "lhs_batch"), ints(node, "rhs_batch")
    lc, rc = ints(node, "lhs_contracting"), ints(node, "rhs_contracting")
    left = [i for i in range(len(a.type.shape)) if i not in (*lb, *lc)]
    right = [i for i in range(len(b.type.shape)) if i not in (*rb, *rc)]
    name = _NAMED.get((lb, rb, lc, rc))
    if name and len(left) == len(right) == 1 and _signed(a.type, b.type):
        first, second = (text[a], a.type), (text[b], b.type)
        return _named(text, name, first, second, text.filled(node.type))
    rank = len(node.type.shape)
    read_a, read_b = [""] * len(a.type.shape), [""] * len(b.type.shape)
    for loop, (i, j) in enumerate(zip(lb, rb, strict=True)):
        read_a[i] = read_b[j] = f"d{loop}"
    for loop, i in enumerate(left, len(lb)):
        read_a[i] = f"d{loop}"
    for loop, j in enumerate(right, len(lb) + len(left)):
        read_b[j] = f"d{loop}"
    for loop, (i, j) in enumerate(zip(lc, rc, strict=True), rank):
        read_a[i] = read_b[j] = f"d{loop}"
    loops = rank + len(lc)
    plain = not lb and len(left) == len(right) == len(lc) == 1
    return _product(
        text,
        (text[a], a.type, text.map(loops, read_a)),
        (text[b], b.type, text.map(loops, read_b)),
        (text.filled(node.type), node.type, text.map(loops, dims(*range(rank)))),
        rank=loops,
        reduced=range(rank, loops),
        doc="linalg.matmul" if plain else "",
    )


def _convolution(text: Text, node: Node) -> str:
    """The image is padded first. Loops as in conv_2d_nchw_fchw: the result's, features, the window's."""
    image, kernel = node.operands
    where, groups = node.place or node.op, int(str(node.attributes["feature_group_count"]))
    order = dims_of(str(node.attributes["dims"]))
    if any(factor != 1 for factor in ints(node, "lhs_dilation")):
        raise GraphError(f"{where}: a convolution with lhs_dilation")
    padding = ints(node, "padding")
    low, high = [0] * len(image.type.shape), [0] * len(image.type.shape)
    for d, axis in enumerate(order.spatial):
        low[axis], high[axis] = padding[2 * d], padding[2 * d + 1]
    features = image.type.shape[order.feature]
    wide = kernel.type.shape[order.kernel_out] // groups
    if groups > 1 and (groups != features or wide != 1):
        raise GraphError(
            f"{where}: {groups} groups of {features} features; 1 or as many as features are written"
        )
    name, source = padded(text, image, low, high, "0")
    start = text.filled(node.type)
    strides, dilation = ints(node, "strides"), ints(node, "rhs_dilation")
    as_named = groups == 1 and node.attributes["dims"] == "bf01_oi01->bf01"
    if as_named and _signed(image.type, kernel.type):
        kind = "tensor<2xi64>"
        steps = f"{{dilations = dense<{list(dilation)}> : {kind}, strides = dense<{list(strides)}> : {kind}}}"
        return _named(
            text, f"linalg.conv_2d_nchw_fchw {steps}", (name, source), (text[kernel], kernel.type), start
        )
    rank = order.rank
    loops = 2 * rank + 2 + (groups == 1)
    loop = [f"d{i}" for i in range(loops)]  # n, f, spatial ..., c but for depthwise ones, window ...
    n, f, window = loop[0], loop[1], loop[loops - rank :]
    c = f if groups > 1 else loop[2 + rank]
    read, weights, wrote = [""] * (rank + 2), [""] * (rank + 2), [""] * (rank + 2)
    read[order.batch], read[order.feature] = n, c
    weights[order.kernel_out], weights[order.kernel_in] = f, c
    wrote[order.result_batch], wrote[order.result_feature] = n, f
    for d in range(rank):
        read[order.spatial[d]] = _plain(f"{loop[2 + d]} * {strides[d]} + {window[d]} * {dilation[d]}")
        weights[order.kernel_spatial[d]] = window[d]
        wrote[order.result_spatial[d]] = loop[2 + d]
    shape = kernel.type.shape
    if groups > 1:
        weights.pop(order.kernel_in)
        shape = tuple(size for i, size in enumerate(shape) if i != order.kernel_in)
    if text.is_weight(kernel):
        factor = text.weight(kernel, shape)
    else:
        factor = reshaped(text, text[kernel], kernel.type, shape, "filters")
    return _product(
        text,
        (name, source, text.map(loops, read)),
        (factor, Type(shape, kernel.type.number), text.map(loops, weights)),
        (start, node.type, text.map(loops, wrote)),
        rank=loops,
        reduced=range(rank + 2, loops),
        doc="linalg.conv_2d_nchw_fchw" if as_named else "",
    )


def _plain(place: str) -> str:
    return place.replace(" * 1", "")


def _neutral(kind: str, of: str) -> str:
    if kind in NEUTRAL:
        return NEUTRAL[kind]
    known = number(of)
    return known.text(known.lowest if kind == "max" else known.highest)


def _fold(node: Node) -> tuple[str, list[str]]:
    """What the fold starts from, and its body."""
    kind, of = str(node.attributes["kind"]), node.type.number
    operation = FOLDS.get((kind, number(of).kind))
    if operation is not None and not number(of).signed:
        operation = operation.replace("maxsi", "maxui").replace("minsi", "minui")
    if operation is None:
        raise GraphError(f"{node.place or node.op}: {kind} over {of} has no op in linalg's C")
    return _neutral(kind, of), [f"%s = {operation} %a0, %o : {element(of)}"]


def _reduce(text: Text, node: Node) -> str:
    (x,) = node.operands
    gone = ints(node, "dimensions")
    if not gone:
        return text[x]
    neutral, body = _fold(node)
    rank = len(x.type.shape)
    kept = dims(*(i for i in range(rank) if i not in gone))
    out = (text.filled(node.type, neutral), node.type, text.map(rank, kept))
    return text.generic([text.operand(x)], out, body, rank=rank, reduced=gone)


def _reduce_window(text: Text, node: Node) -> str:
    """The padded operand, and an empty tensor whose shape says how far the window's loops go."""
    (x,) = node.operands
    neutral, body = _fold(node)
    padding, window = ints(node, "padding"), ints(node, "window")
    strides, dilation = ints(node, "strides"), ints(node, "dilation")
    image, source = padded(text, x, padding[::2], padding[1::2], neutral)
    rank, of = len(window), node.type.number
    steps = (window[:2], strides[:2], set(dilation))
    if node.attributes["kind"] == "max" and rank == 4 and steps == ((1, 1), (1, 1), {1}) and _signed(x.type):
        shape = Type(window[2:], of)
        kind = "tensor<2xi64>"
        by = f"{{dilations = dense<1> : {kind}, strides = dense<{list(strides[2:])}> : {kind}}}"
        op = f"linalg.pooling_nchw_max {by}"
        start = text.filled(node.type, neutral)
        return _named(text, op, (image, source), (text.empty(shape), shape), start)
    sliding = [i for i in range(rank) if window[i] > 1]
    if not sliding:
        raise GraphError(f"{node.place or node.op}: a window of one element")
    return windowed(text, (image, source), neutral, body, sliding, window, strides, dilation)


def windowed(
    text: Text,
    image: tuple[str, Type],
    neutral: str,
    body: Sequence[str],
    sliding: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int],
) -> str:
    """Folds of windows of a padded image; along `sliding` dimensions they have more than one element."""
    type_, rank = text.node.type, len(window)
    loops = rank + len(sliding)
    loop = {i: f"d{rank + number_}" for number_, i in enumerate(sliding)}
    read = [
        _plain(f"d{i} * {strides[i]}" + (f" + {loop[i]} * {dilation[i]}" if i in loop else ""))
        for i in range(rank)
    ]
    shape = Type(tuple(window[i] for i in sliding), image[1].number)
    name = text.empty(shape)
    return text.generic(
        [
            (*image, text.map(loops, read)),
            (name, shape, text.map(loops, loop.values())),
        ],
        (text.filled(type_, neutral), type_, text.map(loops, dims(*range(rank)))),
        body,
        rank=loops,
        reduced=range(rank, loops),
    )


def _take(text: Text, node: Node) -> str:
    """A table's rows; numbers outside are the nearest row's."""
    table, rows = node.operands
    body, of = Body(text), rows.type.number
    most = number(of).highest
    within = "%a0"
    if number(of).signed:
        within = body.compute("arith.maxsi", of, within, body.constant("0", of))
    if table.type.shape[0] - 1 < most:
        last, least = body.constant(str(table.type.shape[0] - 1), of), "arith.minsi"
        within = body.compute(least if number(of).signed else "arith.minui", of, within, last)
    if not number(of).signed:
        within, of = converted(body, within, of, "int64"), "int64"
    first = body.line(f"arith.index_cast {within} : {element(of)} to index")
    rank, rank_out = len(rows.type.shape), len(node.type.shape)
    rest = [body.line(f"linalg.index {i} : index") for i in range(rank, rank_out)]
    body.line(f"tensor.extract {text[table]}[{', '.join([first, *rest])}] : {spelled(table.type)}")
    operand = (text[rows], rows.type, text.map(rank_out, dims(*range(rank))))
    return text.generic([operand], text.into(node.type), body.lines, rank=rank_out)


for _name, _writer in {
    "dot_general": _dot_general,
    "convolution": _convolution,
    "reduce": _reduce,
    "reduce_window": _reduce_window,
    "take": _take,
}.items():
    register(_name, _writer)
