"""Hypothesis strategies: sound specifications, and word streams for them, well-formed and ill-formed.

@given(st.data())
def test_device(data):
    spec = data.draw(specs())
    words, description = data.draw(word_program(spec))
"""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from tests.isa.streams import Matrix, Tile, matmul_program, opcode_words

from axiloom.isa import AcceleratorSpec
from axiloom.isa.check.check import check_tile
from axiloom.isa.check.flows import loop_orders
from axiloom.isa.contract.types import (
    Clear,
    Compute,
    DeviceAction,
    DimField,
    DmaConfig,
    HostAction,
    Load,
    Opcode,
    Recv,
    Requantise,
    Send,
    SendDim,
    SendIdx,
    SendLiteral,
    SetDims,
    Skip,
    Store,
    TileRule,
)
from axiloom.isa.files.grammar import parse_opcode_flow
from axiloom.isa.kernels.forms import MATMUL
from axiloom.isa.numerics import SIGNED

Words = npt.NDArray[np.uint32]
Program = st.SearchStrategy[tuple[Words, str]]
_WORD = st.integers(0, 2**32 - 1)
_POST = st.permutations(["zp", "lo", "hi"])

# How the device's work is divided into opcodes: letters are load A, load B, clear (x), compute (c) and
# store (s); and the flows that each division allows.
_DIVISIONS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "v1": ({"all": "ABxcs"}, {"Ns": "(all)"}),
    "v2": (
        {"sA": "A", "sB": "B", "cCrC": "xcs"},
        {"Ns": "(sA sB cCrC)", "As": "(sA (sB cCrC))", "Bs": "(sB (sA cCrC))"},
    ),
    "v2 late clear": ({"sA": "A", "sBcCrC": "Bcsx"}, {"Ns": "(sA sBcCrC)", "As": "(sA (sBcCrC))"}),
    "v3": (
        {"sA": "A", "sB": "B", "cC": "c", "rC": "sx"},
        {
            "Ns": "(sA sB cC rC)",
            "As": "(sA (sB cC rC))",
            "Bs": "(sB (sA cC rC))",
            "Cs": "((sA sB cC) rC)",
        },
    ),
    "v3 B first": ({"sBsA": "BA", "cC": "c", "rC": "sx"}, {"Ns": "(sBsA cC rC)", "Cs": "((sBsA cC) rC)"}),
    "v3 fused": ({"sAsBcC": "ABc", "rC": "sx"}, {"Cs": "((sAsBcC) rC)"}),
    "clear first": ({"x": "x", "sAsBcC": "ABc", "rC": "s"}, {"Cs": "(x (sAsBcC) rC)"}),
}
# The same with post-processing: load P and requantise (q); dims of post-processing (cfgP) are set once.
_POST_DIVISIONS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "v3": (
        {"sA": "A", "sB": "B", "cC": "c", "rC": "sx", "sP": "P", "qC": "qx", "cfgP": ""},
        {"Cs": "((sA sB cC) rC)", "q": "(sP (sA sB cC) qC)"},
    ),
    "v3 fused": (
        {"sAsBcC": "ABc", "rC": "sx", "sPqC": "Pqx", "cfgP": ""},
        {"Cs": "((sAsBcC) rC)", "q": "((sAsBcC) sPqC)"},
    ),
    "P stays": (
        {"sP": "P", "sAsB": "AB", "cC": "c", "qC": "qx", "cfgP": ""},
        {"q": "(sP ((sAsB cC) qC))"},
    ),
}
_DEVICE: dict[str, DeviceAction] = {
    "A": Load("A"),
    "B": Load("B"),
    "P": Load("P"),
    "x": Clear("C"),
    "c": Compute(),
    "s": Store("C"),
    "q": Requantise("C"),
}
_HOST: dict[str, HostAction] = {
    "A": Send("A"),
    "B": Send("B"),
    "P": Send("P"),
    "s": Recv("C"),
    "q": Recv("C"),
}


@st.composite
def specs(draw: st.DrawFn, largest: int = 12, widest: int = 128, post: bool = False) -> AcceleratorSpec:
    """A sound specification with tiles of at most `largest` (a multiple of 4) elements a side, and streams of
    at most `widest` bits; `post`: with post-processing."""
    kind = draw(st.sampled_from(SIGNED))
    data = {o: draw(st.permutations(dims).map(tuple)) for o, dims in MATMUL.operands.items()}
    flexible = draw(st.booleans())
    size = {d: draw(st.integers(1, largest)) for d in ("m", "n", "k")}
    for operand in "AB":  # rows are whole words
        last = data[operand][-1]
        size[last] = -(-size[last] // kind.per_word) * kind.per_word
    if post:  # so are those of C, once they are int8
        size[data["C"][-1]] = -(-size[data["C"][-1]] // 4) * 4
    unit = tuple(size.values())
    times = draw(st.tuples(*(st.integers(1, 3),) * 3)) if flexible else (1, 1, 1)
    tile = tuple(u * t for u, t in zip(unit, times, strict=True))
    elements = unit[0] * unit[1]
    divisions = _POST_DIVISIONS if post else _DIVISIONS
    division, flows = divisions[draw(st.sampled_from(sorted(divisions)))]
    opcodes, init = draw(_opcodes(division, flexible))
    spec = AcceleratorSpec.of(
        name="random",
        version=draw(st.sampled_from(["", "1.0"])),
        description=draw(st.text(st.characters(codec="utf-8"), max_size=10)),
        kernel="linalg.matmul",
        data_type=kind,
        dims=("m", "n", "k"),
        data=data,
        opcodes=opcodes,
        flows={name: parse_opcode_flow(text) for name, text in flows.items()},
        selected_flow=draw(st.sampled_from(sorted(flows))),
        init_opcodes=init,
        dma=DmaConfig(length_width=draw(st.integers(20, 26))),
        buffers={},
        tile=TileRule(tile, unit if flexible else None),
        macs=1 << draw(st.integers(0, min(4, (elements & -elements).bit_length() - 1))),
        post=post,
    )
    spare = draw(st.integers(0, 8))
    bits = [prod(spec.operand_shape(o, unit)) // _per_word(spec, o) * 32 for o in data]
    bits += [elements * 8] if post else []
    wide = [w for w in (64, 128) if w <= widest and not any(n % w for n in bits)]
    if wide and draw(st.integers(0, 2)):
        spec = spec.replace(stream_width=draw(st.sampled_from(wide)))
    words = {o: prod(spec.operand_shape(o)) // _per_word(spec, o) + spare for o in data}
    most = spec.operand_words("P") * draw(st.integers(1, 3)) if post else 0
    return spec.replace(buffers={**words, **({"P": most} if post else {})})


def _per_word(spec: AcceleratorSpec, operand: str) -> int:
    return 1 if operand == "C" else spec.data_type.per_word


@st.composite
def _opcodes(
    draw: st.DrawFn, division: dict[str, str], flexible: bool
) -> tuple[dict[str, Opcode], tuple[str, ...]]:
    """Opcodes with random literals, further words to skip, and dims in every opcode or in one of init."""
    dims_once = flexible and draw(st.booleans())
    letters = {**division, "dims": ""} if dims_once else dict(division)
    reset = draw(st.booleans())
    if reset:
        letters["reset"] = "x"
    bare = len(letters) == 1 and draw(st.booleans())
    literals = draw(st.lists(_WORD, min_size=len(letters), max_size=len(letters), unique=True))
    shifts = draw(st.permutations([0, 10, 20]))
    dims = SendDim(tuple(DimField(d, s) for d, s in zip(("m", "n", "k"), shifts, strict=True)))
    opcodes = {}
    for (name, actions), literal in zip(letters.items(), literals, strict=True):
        host: list[HostAction] = [] if bare else [SendLiteral(literal)]
        device: list[DeviceAction] = []
        if name == "cfgP":
            host.append(SendDim(tuple(DimField(d, s) for d, s in zip(draw(_POST), (0, 8, 16), strict=True))))
            device.append(SetDims())
        elif name == "dims" or (flexible and not dims_once):
            host.append(dims)
            device.append(SetDims())
        for letter in actions:
            device.append(_DEVICE[letter])
            host += [_HOST[letter]] if letter in _HOST else []
        if draw(st.integers(0, 3)) == 0:
            dims_around = sorted(
                {d for o in "ABC" if o.replace("C", "s") in actions for d in MATMUL.operands[o]}
            )
            index = st.sampled_from(dims_around).map(SendIdx) if dims_around else st.nothing()
            host.append(draw(st.builds(SendLiteral, _WORD) | index))
            device.append(Skip())
        opcodes[name] = Opcode(name, tuple(host), tuple(device))
    return opcodes, tuple(n for n in ("dims", "reset", "cfgP") if n in letters)


def tiles(spec: AcceleratorSpec) -> st.SearchStrategy[Tile]:
    """Tiles that the device takes."""
    if spec.tile.granule is None:
        return st.just(spec.tile.size)
    sizes = product(*(range(g, 5 * g, g) for g in spec.tile.granule))
    return st.sampled_from([tile for tile in sizes if not check_tile(spec, tile)])


def matrices(spec: AcceleratorSpec, shape: tuple[int, ...]) -> st.SearchStrategy[Matrix]:
    """Elements over the whole range of the type, its ends more often than not at random places."""
    info = np.iinfo(spec.data_type.numpy)

    def fill(seed: int) -> Matrix:
        random = np.random.default_rng(seed)
        values = random.integers(info.min, info.max, shape, endpoint=True)
        ends = random.choice(np.array([info.min, -1, 0, 1, info.max]), shape)
        return np.where(random.random(shape) < 0.3, ends, values)

    return st.integers(0, 2**31).map(fill)


def elements(spec: AcceleratorSpec, operand: str, shape: tuple[int, ...]) -> st.SearchStrategy[Matrix]:
    """Elements of an operand's tile."""
    return channels(shape[0]) if operand == "P" else matrices(spec, shape)


def channels(count: int) -> st.SearchStrategy[Matrix]:
    """P of `count` channels: biases, multipliers and shifts over their whole range."""

    def fill(seed: int) -> Matrix:
        random = np.random.default_rng(seed)
        bias = random.integers(-(1 << 31), 1 << 31, count)
        bias = np.where(random.random(count) < 0.5, bias >> 20, bias)
        multiplier = random.integers(0, 1 << 16, count)
        shift = random.integers(0, np.where(random.random(count) < 0.8, 48, 64))
        return np.stack([bias, multiplier | shift << 16], axis=1)

    return st.integers(0, 2**31).map(fill)


@st.composite
def post_settings(draw: st.DrawFn) -> dict[str, int]:
    low, high = sorted(draw(st.tuples(*(st.integers(-128, 127),) * 2)))
    return {"zp": draw(st.integers(-128, 127)), "lo": low, "hi": high}


@st.composite
def well_formed(draw: st.DrawFn, spec: AcceleratorSpec, longest: int = 12) -> tuple[Words, str]:
    """Either one whole matmul under a flow, or opcodes in a random order that break no rule."""
    if draw(st.booleans()):
        return draw(_flow_program(spec))
    return draw(_free_program(spec, longest))


@st.composite
def _flow_program(draw: st.DrawFn, spec: AcceleratorSpec) -> tuple[Words, str]:
    flow = draw(st.sampled_from(sorted(spec.flows)))
    order = draw(st.sampled_from(loop_orders(spec, flow)))
    tile = draw(tiles(spec))
    settings = draw(post_settings())
    counts = draw(st.tuples(*(st.integers(1, 2),) * 3))
    total = {d: s * c for d, s, c in zip(spec.dims, tile, counts, strict=True)}
    operands = {o: draw(matrices(spec, tuple(total[d] for d in spec.data[o]))) for o in "AB"}
    operands["P"] = draw(channels(total["n"]))
    program = matmul_program(spec, flow, order, tile, operands, settings)
    words = [word for step in program for word in step.words]
    return np.array(words, dtype=np.uint32), f"flow {flow} order {order} tile {tile} counts {counts}"


@st.composite
def _free_program(draw: st.DrawFn, spec: AcceleratorSpec, longest: int) -> tuple[Words, str]:
    """Opcodes that the state of the device allows, tracked by shapes alone."""
    shapes: dict[str, Tile] = {}  # of A and B as loaded, and of C while it is not cleared
    tile = spec.tile.size
    words: list[int] = []
    names: list[str] = []
    any_tile = tiles(spec)
    for _ in range(draw(st.integers(0, longest))):
        wanted = draw(any_tile)
        legal = []
        for name, opcode in spec.opcodes.items():
            current = wanted if _sets_dims(opcode) else tile
            after = _shapes_after(spec, opcode, current, shapes)
            if after is not None:
                legal.append((name, current, after))
        if not legal:
            break
        name, tile, shapes = draw(st.sampled_from(legal))
        operands = {
            o: draw(
                channels(spec.operand_shape(o, tile)[0])
                if o == "P"
                else matrices(spec, spec.operand_shape(o, tile))
            )
            for o in spec.opcodes[name].sends
        }
        words += opcode_words(spec, name, tile, operands, {"n": draw(_WORD)}, draw(post_settings()))
        names.append(f"{name} {'x'.join(map(str, tile))}")
    return np.array(words, dtype=np.uint32), f"opcodes {', '.join(names)}"


def _sets_dims(opcode: Opcode) -> bool:
    return any(f.dim == "m" for a in opcode.host if isinstance(a, SendDim) for f in a.fields)


def _shapes_after(
    spec: AcceleratorSpec, opcode: Opcode, tile: Tile, shapes: dict[str, Tile]
) -> dict[str, Tile] | None:
    """The shapes after `opcode`, or None where it is an error."""
    now = {o: spec.operand_shape(o, tile) for o in spec.operands}
    shapes = dict(shapes)
    for action in opcode.device:
        if isinstance(action, Load):
            shapes[action.operand] = now[action.operand]
        elif isinstance(action, Clear):
            shapes.pop("C", None)
        elif isinstance(action, Compute):
            if any(shapes.get(o) != now[o] for o in "AB") or shapes.get("C", now["C"]) != now["C"]:
                return None
            shapes["C"] = now["C"]
        elif isinstance(action, Store | Requantise):
            unfit = isinstance(action, Requantise) and shapes.get("P") != now["P"]
            if unfit or shapes.get("C", now["C"]) != now["C"]:
                return None
    return shapes


def ill_formed(spec: AcceleratorSpec) -> Program:
    return damaged(spec, well_formed(spec), _any_order(spec))


@st.composite
def damaged(
    draw: st.DrawFn, spec: AcceleratorSpec, well_formed: Program, any_order: Program
) -> tuple[Words, str]:
    """A stream that is probably wrong: a well-formed one with words cut, changed, inserted or dropped, or
    opcodes in any order under any dims, or noise. What the model makes of it is the reference."""
    words, text = draw(well_formed)
    fault = draw(st.sampled_from(["cut", "change", "insert", "drop", "noise"] + 4 * ["any order"]))
    if fault == "noise":
        return np.array(draw(st.lists(_WORD, min_size=1, max_size=40)), dtype=np.uint32), "noise"
    if fault == "any order" or words.size == 0:
        return draw(any_order)
    at = draw(st.integers(0, words.size - 1))
    if fault == "cut":
        return words[:at], f"{text}; cut at word {at}"
    if fault == "drop":
        return np.delete(words, at), f"{text}; word {at} dropped"
    literals = [op.literal for op in spec.opcodes.values() if op.literal is not None]
    word = draw(_WORD | st.sampled_from(literals) if literals else _WORD)
    if fault == "insert":
        return np.insert(words, at, np.uint32(word)), f"{text}; {word:#x} inserted at word {at}"
    changed = words.copy()
    changed[at] = word
    return changed, f"{text}; word {at} changed to {word:#x}"


@st.composite
def _any_order(draw: st.DrawFn, spec: AcceleratorSpec) -> tuple[Words, str]:
    """The opcodes of a flow once, then any; each under one of two tiles, which are mostly legal."""
    names = [name for name, _ in spec.flows[spec.selected_flow].opcodes()]
    names = [*spec.init_opcodes, *names, *draw(st.lists(st.sampled_from(sorted(spec.opcodes)), max_size=8))]
    names = names[draw(st.integers(0, len(names) - 1)) if draw(st.booleans()) else 0 :]
    pair = [spec.tile.size, draw(tiles(spec))]
    if spec.tile.flexible and draw(st.integers(0, 2)) == 0:
        pair[1] = draw(st.tuples(*(st.integers(0, 40),) * 3))
    words: list[int] = []
    parts: list[str] = []
    for name in names:
        tile = draw(st.sampled_from(pair))
        payload = {
            o: np.zeros((spec.operand_words(o, tile) * spec.operand_type(o).per_word,), np.int64)
            for o in spec.opcodes[name].sends
        }
        words += opcode_words(spec, name, tile, payload)
        parts.append(f"{name} {'x'.join(map(str, tile))}")
    return np.array(words, dtype=np.uint32), f"any order: {', '.join(parts)}"


def word_program(spec: AcceleratorSpec) -> st.SearchStrategy[tuple[Words, str]]:
    """Words for a device of `spec`, well-formed or not, and what they are."""
    return well_formed(spec) | ill_formed(spec)
