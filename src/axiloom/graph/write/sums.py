"""Products, convolutions, folds and tables: generics with loops that reduce."""

from __future__ import annotations

from collections.abc import Sequence

from axiloom.graph.graph import GraphError, Node, Type
from axiloom.graph.numbers import number
from axiloom.graph.ops.convolution import dims_of
from axiloom.graph.write.moves import ints, padded, reshaped
from axiloom.graph.write.registry import register
from axiloom.graph.write.scalars import Body, converted
from axiloom.graph.write.text import Text, element, identity

NEUTRAL = {"add": "0", "mul": "1", "and": "1", "or": "0"}
FOLDS = {
    ("add", "integer"): "arith.addi", ("add", "float"): "arith.addf",
    ("mul", "integer"): "arith.muli", ("mul", "float"): "arith.mulf",
    ("max", "integer"): "arith.maxsi", ("max", "float"): "arith.maximumf",
    ("min", "integer"): "arith.minsi", ("min", "float"): "arith.minimumf",
    ("and", "bool"): "arith.andi", ("or", "bool"): "arith.ori",
}  # fmt: skip


def _product(
    text: Text,
    inputs: Sequence[tuple[str, Type]],
    result: Type,
    maps: Sequence[Sequence[str]],
    loops: Sequence[str],
    doc: str,
) -> str:
    """Sums of products in the result's number, which both factors are converted to first."""
    of, body = result.number, Body(text)
    factors = [converted(body, f"%a{i}", type_.number, of) for i, (_, type_) in enumerate(inputs)]
    kind = number(of).kind
    if kind == "bool":
        raise GraphError(f"products of {of}")
    factor = body.compute("arith.mulf" if kind == "float" else "arith.muli", of, *factors)
    total = body.compute(FOLDS["add", kind], of, factor, "%o")
    body.lines.append(f"linalg.yield {total} : {element(of)}")
    start = text.filled(result, "0")
    return text.generic(inputs, start, result, maps, loops, body.lines, ["%a0", "%a1", "%o"], doc)


def _dot_general(text: Text, node: Node) -> str:
    a, b = node.operands
    lb, rb = ints(node, "lhs_batch"), ints(node, "rhs_batch")
    lc, rc = ints(node, "lhs_contracting"), ints(node, "rhs_contracting")
    left = [i for i in range(len(a.type.shape)) if i not in (*lb, *lc)]
    right = [i for i in range(len(b.type.shape)) if i not in (*rb, *rc)]
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
    loops = ["parallel"] * rank + ["reduction"] * len(lc)
    plain = not lb and len(left) == len(right) == len(lc) == 1
    inputs = [(text[a], a.type), (text[b], b.type)]
    return _product(
        text, inputs, node.type, [read_a, read_b, identity(rank)], loops, "linalg.matmul" if plain else ""
    )


def _convolution(text: Text, node: Node) -> str:
    """The image is padded first. Loops as in conv_2d_nchw_fchw: the result's, features, the window's."""
    image, kernel = node.operands
    where, groups = node.place or node.op, int(str(node.attributes["feature_group_count"]))
    dims = dims_of(str(node.attributes["dims"]))
    if any(factor != 1 for factor in ints(node, "lhs_dilation")):
        raise GraphError(f"{where}: a convolution with lhs_dilation")
    padding = ints(node, "padding")
    low, high = [0] * len(image.type.shape), [0] * len(image.type.shape)
    for d, axis in enumerate(dims.spatial):
        low[axis], high[axis] = padding[2 * d], padding[2 * d + 1]
    name, source = padded(text, text[image], image.type, low, high, "0")
    rank = len(dims.spatial)
    features = image.type.shape[dims.feature]
    wide = kernel.type.shape[dims.kernel_out] // groups
    if groups > 1 and (groups != features or wide != 1):
        raise GraphError(
            f"{where}: {groups} groups of {features} features; 1 or as many as features are written"
        )
    out = node.type
    loop = [f"d{i}" for i in range(2 * rank + 3)]  # n, f, spatial ..., c, window ...
    n, f, c = loop[0], loop[1], loop[2 + rank]
    strides, dilation = ints(node, "strides"), ints(node, "rhs_dilation")
    depthwise = groups > 1
    window = loop[2 + rank : 2 + 2 * rank] if depthwise else loop[3 + rank :]
    read, weights, wrote = [""] * (rank + 2), [""] * (rank + 2), [""] * (rank + 2)
    read[dims.batch], read[dims.feature] = n, f if depthwise else c
    weights[dims.kernel_out], weights[dims.kernel_in] = f, c
    wrote[dims.result_batch], wrote[dims.result_feature] = n, f
    for d in range(rank):
        read[dims.spatial[d]] = f"{loop[2 + d]} * {strides[d]} + {window[d]} * {dilation[d]}"
        weights[dims.kernel_spatial[d]] = window[d]
        wrote[dims.result_spatial[d]] = loop[2 + d]
    factor, of_weights = text[kernel], kernel.type
    if depthwise:
        weights.pop(dims.kernel_in)
        shape = [s for i, s in enumerate(kernel.type.shape) if i != dims.kernel_in]
        factor = reshaped(text, factor, kernel.type, shape)
        of_weights = Type(tuple(shape), kernel.type.number)
    read = [_plain(index) for index in read]
    loops = ["parallel"] * (rank + 2) + ["reduction"] * (rank + (not depthwise))
    return _product(
        text, [(name, source), (factor, of_weights)], out, [read, weights, wrote], loops, _doc(node)
    )


def _plain(place: str) -> str:
    return place.replace(" * 1", "")


def _doc(node: Node) -> str:
    """The named op that it is, if it is one: our matchers call layers by it."""
    if (
        int(str(node.attributes["feature_group_count"])) > 1
        or str(node.attributes["dims"]) != "bf01_oi01->bf01"
    ):
        return ""
    return "linalg.conv_2d_nchw_fchw"


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
    spelled_type = element(of)
    return _neutral(kind, of), [
        f"%b = {operation} %a, %o : {spelled_type}",
        f"linalg.yield %b : {spelled_type}",
    ]


def _reduce(text: Text, node: Node) -> str:
    (x,) = node.operands
    gone = ints(node, "dimensions")
    if not gone:
        return text[x]
    neutral, body = _fold(node)
    rank = len(x.type.shape)
    kept = [f"d{i}" for i in range(rank) if i not in gone]
    loops = ["reduction" if i in gone else "parallel" for i in range(rank)]
    maps = [identity(rank), kept]
    return text.generic(
        [(text[x], x.type)], text.filled(node.type, neutral), node.type, maps, loops, body, ["%a", "%o"]
    )


def _reduce_window(text: Text, node: Node) -> str:
    """The padded operand, and an empty tensor whose shape says how far the window's loops go."""
    (x,) = node.operands
    neutral, body = _fold(node)
    padding, window = ints(node, "padding"), ints(node, "window")
    name, source = padded(text, text[x], x.type, padding[::2], padding[1::2], neutral)
    strides, dilation = ints(node, "strides"), ints(node, "dilation")
    rank = len(window)
    sliding = [i for i in range(rank) if window[i] > 1]
    if not sliding:
        raise GraphError(f"{node.place or node.op}: a window of one element")
    loop = {i: f"d{rank + number_}" for number_, i in enumerate(sliding)}
    read = [
        _plain(f"d{i} * {strides[i]}") + (_plain(f" + {loop[i]} * {dilation[i]}") if i in loop else "")
        for i in range(rank)
    ]
    shape = Type(tuple(window[i] for i in sliding), node.type.number)
    loops = ["parallel"] * rank + ["reduction"] * len(sliding)
    maps = [read, list(loop.values()), identity(rank)]
    inputs = [(name, source), (text.empty(shape), shape)]
    return text.generic(
        inputs, text.filled(node.type, neutral), node.type, maps, loops, body, ["%a", "%w", "%o"]
    )


def _take(text: Text, node: Node) -> str:
    """A table's rows; numbers outside are the nearest row's."""
    table, rows = node.operands
    body, of = Body(text), rows.type.number
    most = number(of).highest
    within = "%a"
    if number(of).signed:
        within = body.compute("arith.maxsi", of, within, body.constant("0", of))
    if table.type.shape[0] - 1 < most:
        last, least = body.constant(str(table.type.shape[0] - 1), of), "arith.minsi"
        within = body.compute(least if number(of).signed else "arith.minui", of, within, last)
    if not number(of).signed:
        within, of = converted(body, within, of, "int64"), "int64"
    first = body.line(f"arith.index_cast {within} : {element(of)} to index")
    rank = len(rows.type.shape)
    rest = [body.line(f"linalg.index {i} : index") for i in range(rank, len(node.type.shape))]
    kind = "x".join([*map(str, table.type.shape), element(table.type.number)])
    row = body.line(f"tensor.extract {text[table]}[{', '.join([first, *rest])}] : tensor<{kind}>")
    body.lines.append(f"linalg.yield {row} : {element(node.type.number)}")
    rank_out = len(node.type.shape)
    return text.generic(
        [(text[rows], rows.type)],
        text.empty(node.type),
        node.type,
        [identity(rank), identity(rank_out)],
        ["parallel"] * rank_out,
        body.lines,
        ["%a", "%o"],
    )


def _requantise(text: Text, node: Node) -> str:
    """In one body, as post-processing on a device does it."""
    sums, *channels = node.operands
    rank, dimension = len(sums.type.shape), int(str(node.attributes["dimension"]))
    wide = "int64"
    body = Body(text)
    unit = body.constant("1", wide)
    biased = body.compute("arith.addi", "int32", "%a0", "%a1")
    product = body.compute(
        "arith.muli",
        wide,
        body.convert("arith.extsi", biased, "int32", wide),
        body.convert("arith.extui", "%a2", "int32", wide),
    )
    shift = body.convert("arith.extui", "%a3", "int32", wide)
    half = body.compute("arith.shrui", wide, body.compute("arith.shli", wide, unit, shift), unit)
    value = body.compute("arith.shrsi", wide, body.compute("arith.addi", wide, product, half), shift)
    for operation, name in (("arith.addi", "zero"), ("arith.maxsi", "low"), ("arith.minsi", "high")):
        value = body.compute(operation, wide, value, body.constant(str(node.attributes[name]), wide))
    narrow = body.convert("arith.trunci", value, wide, "int8")
    body.lines.append(f"linalg.yield {narrow} : i8")
    maps = [identity(rank), *([f"d{dimension}"] for _ in channels), identity(rank)]
    return text.generic(
        [(text[operand], operand.type) for operand in node.operands],
        text.empty(node.type),
        node.type,
        maps,
        ["parallel"] * rank,
        body.lines,
        ["%a0", "%a1", "%a2", "%a3", "%o"],
    )


for _name, _writer in {
    "dot_general": _dot_general,
    "convolution": _convolution,
    "reduce": _reduce,
    "reduce_window": _reduce_window,
    "take": _take,
    "requantise": _requantise,
}.items():
    register(_name, _writer)
