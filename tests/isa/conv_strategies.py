"""Hypothesis strategies for convolutions: sound specifications, problems, and word streams, good and bad.

@given(st.data())
def test_device(data):
    spec = data.draw(conv_specs())  # form=IMAGE or WINDOW; post=True with post-processing
    words, description = data.draw(conv_word_program(spec))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st
from tests.isa.conv_streams import Convolution, conv_program
from tests.isa.strategies import Words, channels, elements, matrices, post_settings
from tests.isa.streams import Matrix, opcode_words

from axiloom.isa import AcceleratorSpec, DataType, Opcode
from axiloom.isa.flows import loop_orders
from axiloom.isa.grammar import parse_opcode_flow
from axiloom.isa.kernels import IMAGE, WINDOW, Form
from axiloom.isa.types import (
    Clear,
    Compute,
    DeviceAction,
    DimField,
    DmaConfig,
    HostAction,
    Load,
    Recv,
    Requantise,
    Save,
    Send,
    SendDim,
    SendLiteral,
    SetDims,
    Skip,
    Store,
    TileRule,
)

_WORD = st.integers(0, 2**32 - 1)
_BITS = {
    **dict.fromkeys(("oc", "oh", "ow", "ic", "ih", "iw"), 7),
    **dict.fromkeys(("fh", "fw", "sh", "sw", "dh", "dw", "pt", "pl"), 4),
    **dict.fromkeys(("zp", "lo", "hi"), 8),
}
_DEVICE: dict[str, DeviceAction] = {
    "I": Load("I"),
    "F": Load("F"),
    "P": Load("P"),
    "c": Compute(),
    "v": Save(),
    "s": Store("O"),
    "q": Requantise("O"),
    "x": Clear("O"),
}
_HOST: dict[str, HostAction] = {
    "I": Send("I"),
    "F": Send("F"),
    "P": Send("P"),
    "s": Recv("O"),
    "q": Recv("O"),
}

# What the opcodes of a device are: the words of settings before its actions, and the actions by letters
# (save: v, requantise: q, clear: x); then the flows, and the opcodes of init.
_Division = tuple[dict[str, tuple[str, str]], dict[str, str], str]
_ALL = "fh fw sh sw dh dw, oc ic oh ow, ih iw pt pl"
_IMAGE_DIVISIONS: dict[str, _Division] = {
    "conv_v4": (
        {
            "cfg": ("fh fw sh sw dh dw", ""),
            "sI": ("ic ih iw, pt pl", "I"),
            "sF": ("oc ic", "F"),
            "cO": ("oh ow", "c"),
            "rO": ("", "sx"),
        },
        {
            "Ns": "(sI sF cO rO)",
            "Is": "(sI (sF cO rO))",
            "Fs": "(sF ((sI cO rO)))",
            "Os": "((sI sF cO) rO)",
        },
        "cfg",
    ),
    "all in each": (
        {"sI": (_ALL, "I"), "sF": (_ALL, "F"), "cO": (_ALL, "c"), "rO": (_ALL, "sx")},
        {"Os": "((sI sF cO) rO)", "Fs": "(sF ((sI cO rO)))"},
        "",
    ),
    "fused": (
        {"sFsIcO": (_ALL, "FIc"), "rO": ("oc oh ow", "sx")},
        {"Os": "((sFsIcO) rO)"},
        "",
    ),
    "overwrite": (
        {"sF": ("fh fw sh sw dh dw, oc ic", "F"), "sIcOrO": ("oh ow, ih iw pt pl, ic", "Ixcs")},
        {"Fs": "(sF ((sIcOrO)))"},
        "",
    ),
}
_WINDOW_DIVISIONS: dict[str, _Division] = {
    "conv_v3": (
        {
            "sH": ("fh", ""),
            "sC": ("ic", ""),
            "sF": ("", "F"),
            "sIcO": ("", "Icv"),
            "rO": ("", "sx"),
        },
        {"Fs": "(sF ((sIcO)) rO)", "Row": "(sF (sIcO) rO)"},
        "sH sC",
    ),
    "one by one": (
        {"sF": ("ic fh fw", "F"), "sI": ("", "I"), "cO": ("", "c"), "v": ("", "v"), "rO": ("", "sx")},
        {"Ns": "(sF sI cO v rO)", "Fs": "(sF ((sI cO v)) rO)", "Os": "((sF sI cO) v rO)"},
        "",
    ),
}


@st.composite
def conv_specs(
    draw: st.DrawFn, form: Form | None = None, widest: int = 128, post: bool = False
) -> AcceleratorSpec:
    """A sound specification of a convolution, with small buffers, and streams of at most `widest` bits."""
    form = form or draw(st.sampled_from([IMAGE, WINDOW]))
    divisions = _IMAGE_DIVISIONS if form is IMAGE else _WINDOW_DIVISIONS
    named = [name for name, (_, flows, _) in sorted(divisions.items()) if not post or "Os" in flows]
    division, flows, init = divisions[draw(st.sampled_from(named))]
    kind = draw(st.sampled_from(DataType))
    if post:
        division = {**division, "sP": ("oc" if form is IMAGE else "", "P"), "cfgP": ("zp lo hi", "")}
        division["qO"] = (division["rO"][0], "qx")
        flows = {**flows, "q": "(sP " + flows["Os"].removeprefix("(").replace("rO", "qO")}
        init += " cfgP"
    bits = tuple(name for name in division if name != "qO") if form is WINDOW and draw(st.booleans()) else ()
    opcodes = draw(_opcodes(division, bool(bits)))
    if bits and "sIcO" in opcodes:
        opcodes, bits = _with_parts(opcodes, bits)
    spec = AcceleratorSpec(
        name="random",
        version="",
        description="",
        kernel=form.kernel,
        data_type=kind,
        dims=form.dims,
        data=form.operands,
        opcodes=opcodes,
        flows={name: parse_opcode_flow(text) for name, text in flows.items()},
        selected_flow=sorted(flows)[0],
        init_opcodes=tuple(init.split()),
        dma=DmaConfig(input_buffer_size=1 << 20, output_buffer_size=1 << 20),
        buffers={},
        tile=TileRule((1,) * 6, (1,) * 6),
        macs=1 << draw(st.integers(0, 6 if form is IMAGE else 3)),
        stream_width=draw(st.sampled_from([w for w in (32, 64, 128) if w <= widest])),
        post=post,
        bits=bits,
    )
    fh = draw(st.integers(1, 3))
    taps = (fh, fh if spec.tied else draw(st.integers(1, 3)))
    depth = draw(st.integers(1, 6))
    size = (1, 1, 1, depth, *taps)
    if form is IMAGE:
        size = (draw(st.integers(1, 9)), draw(st.integers(1, 5)), draw(st.integers(1, 10)), depth, *taps)
    spec = spec.replace(tile=TileRule(size, (1,) * 6))
    wide = dict.fromkeys(("sh", "sw"), draw(st.integers(1, 2))) if form is IMAGE else {}
    held = {o: spec.held_words(o, spec.operand_shape(o, None, wide)) for o in spec.operands}
    spare = draw(st.integers(0, 8))
    results = draw(st.integers(1, 40)) if form is WINDOW else held["O"] + spare
    return spec.replace(buffers={**{o: words + spare for o, words in held.items()}, "O": results})


@st.composite
def _opcodes(draw: st.DrawFn, division: Mapping[str, tuple[str, str]], bits: bool) -> dict[str, Opcode]:
    """Opcodes with random literals, or random single bits, and random layouts of their words."""
    count = len(division)
    literals = draw(st.lists(_WORD, min_size=count, max_size=count, unique=True))
    if bits:
        literals = [1 << shift for shift in draw(st.permutations(range(32)))[:count]]
    opcodes = {}
    for (name, (words, letters)), literal in zip(division.items(), literals, strict=True):
        host: list[HostAction] = [SendLiteral(literal)]
        device: list[DeviceAction] = []
        for word in words.split(",") if words else ():
            fields, shift = [], 0
            for one in draw(st.permutations(word.split())):
                fields.append(DimField(one, shift))
                shift += _BITS[one]
            host.append(SendDim(tuple(fields)))
            device.append(SetDims())
        if draw(st.integers(0, 5)) == 0:
            host.append(SendLiteral(draw(_WORD)))
            device.append(Skip())
        host += [_HOST[letter] for letter in letters if letter in _HOST]
        device += [_DEVICE[letter] for letter in letters]
        opcodes[name] = Opcode(name, tuple(host), tuple(device))
    return opcodes


def _with_parts(
    opcodes: dict[str, Opcode], bits: tuple[str, ...]
) -> tuple[dict[str, Opcode], tuple[str, ...]]:
    """The fused opcode of `conv_v3` as a combination of three bits that are opcodes of their own."""
    used = {op.literal or 0 for op in opcodes.values()}
    free = [1 << shift for shift in range(32) if 1 << shift not in used][:3]
    parts = {
        name: Opcode(name, (SendLiteral(word), *host), (action,))
        for name, word, host, action in zip(
            ("sI", "cO", "v"), free, ((Send("I"),), (), ()), (Load("I"), Compute(), Save()), strict=True
        )
    }
    fused = Opcode("sIcO", (SendLiteral(sum(free)), Send("I")), (Load("I"), Compute(), Save()))
    order = [*(name for name in bits if name not in ("sIcO", "rO")), *parts, "rO"]
    return {**opcodes, **parts, "sIcO": fused}, tuple(order)


# --- problems ---------------------------------------------------------------------------------------


@st.composite
def convolutions(draw: st.DrawFn, spec: AcceleratorSpec) -> tuple[Convolution, dict[str, int]]:
    """A problem that `spec` can execute, and the tile (oc, oh, ow, ic) to do it with."""
    default = dict(zip(spec.dims, spec.tile.size, strict=True))
    fh, fw = draw(st.integers(1, default["fh"])), draw(st.integers(1, default["fw"]))
    fw = fh if spec.tied else fw
    pair = st.tuples(st.integers(1, 3), st.integers(1, 3))
    tile = {d: draw(st.integers(1, default[d])) for d in ("oc", "oh", "ow", "ic")}
    stride, dilation = draw(pair), draw(pair)
    while not _fits(spec, tile, fh, fw, stride, dilation):  # strides make the image larger than its buffer
        if stride == dilation == (1, 1):
            tile = dict.fromkeys(tile, 1)
        stride, dilation = _smaller(stride), _smaller(dilation)
    counts = {d: draw(st.integers(1, 2 * size + 2)) for d, size in tile.items()}
    if not any(_names(spec.opcodes[name], "ic") for name in spec.opcodes if name not in spec.init_opcodes):
        counts["ic"] += -counts["ic"] % tile["ic"]  # set once, so every tile has it
    if spec.form.saves:
        counts["ow"] = min(counts["ow"], spec.buffers["O"])
        counts["oh"] = min(counts["oh"], spec.buffers["O"] // counts["ow"])
    (ih, above, below), (iw, left, right) = (
        draw(_axis(counts[out], taps, stride[axis], dilation[axis]))
        for axis, (out, taps) in enumerate((("oh", fh), ("ow", fw)))
    )
    size = counts["ic"], ih, iw, counts["oc"], fh, fw
    return Convolution(*size, stride, dilation, (above, left), (below, right)), tile


@st.composite
def _axis(draw: st.DrawFn, outputs: int, taps: int, stride: int, dilation: int) -> tuple[int, int, int]:
    """Rows of an image, and of padding before and after it, that give `outputs` rows of the result."""
    extent = (outputs - 1) * stride + (taps - 1) * dilation + 1 + draw(st.integers(0, stride - 1))
    before = draw(st.integers(0, min(3, extent - 1)))
    after = draw(st.integers(0, min(3, extent - 1 - before)))
    return extent - before - after, before, after


def _names(opcode: Opcode, dim: str) -> bool:
    words = [action for action in opcode.host if isinstance(action, SendDim)]
    return any(one.dim == dim for word in words for one in word.fields)


def _smaller(pair: tuple[int, int]) -> tuple[int, int]:
    return max(1, pair[0] - 1), max(1, pair[1] - 1)


def _fits(
    spec: AcceleratorSpec,
    tile: Mapping[str, int],
    fh: int,
    fw: int,
    stride: tuple[int, int],
    dilation: tuple[int, int],
) -> bool:
    if spec.form.saves:
        return True
    settings = dict(zip(("sh", "sw", "dh", "dw"), (*stride, *dilation), strict=True))
    sizes = (tile["oc"], tile["oh"], tile["ow"], tile["ic"], fh, fw)
    shape = spec.operand_shape("I", sizes, settings)
    return spec.held_words("I", shape) <= spec.buffers["I"]


# --- word streams -----------------------------------------------------------------------------------


@st.composite
def conv_well_formed(draw: st.DrawFn, spec: AcceleratorSpec, longest: int = 14) -> tuple[Words, str]:
    """Either one whole convolution under a flow, or opcodes in a random order that break no rule."""
    if draw(st.booleans()):
        return draw(_flow_program(spec))
    return draw(_free_program(spec, longest))


@st.composite
def _flow_program(draw: st.DrawFn, spec: AcceleratorSpec) -> tuple[Words, str]:
    flow = draw(st.sampled_from(sorted(spec.flows)))
    order = draw(st.sampled_from(loop_orders(spec, flow)))
    problem, tile = draw(convolutions(spec))
    operands = draw(conv_operands(spec, problem))
    steps = conv_program(spec, flow, order, tile, problem, operands, draw(post_settings()))
    words = [word for step in steps for word in step.words]
    return np.array(words, dtype=np.uint32), f"flow {flow} order {order} tile {tile} {problem}"


@st.composite
def conv_operands(draw: st.DrawFn, spec: AcceleratorSpec, problem: Convolution) -> dict[str, Matrix]:
    return {
        "I": draw(matrices(spec, (problem.ic, problem.ih, problem.iw))),
        "F": draw(matrices(spec, (problem.oc, problem.ic, problem.fh, problem.fw))),
        "P": draw(channels(problem.oc)),
    }


@dataclass(frozen=True)
class _State:
    """What a device would hold, by shapes alone."""

    sizes: Mapping[str, int]
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    saved: int = 0


def _after(spec: AcceleratorSpec, opcode: Opcode, state: _State, wanted: Mapping[str, int]) -> _State | None:
    """The state after an opcode whose words set `wanted`, or None where it is an error."""
    sizes, shapes, saved = dict(state.sizes), dict(state.shapes), state.saved
    window = spec.form is WINDOW
    for action, host in opcode.steps():
        if isinstance(action, SetDims) and isinstance(host, SendDim):
            sizes.update({f.dim: wanted[f.dim] for f in host.fields})
            sizes["fw"] = sizes["fh"] if spec.tied else sizes["fw"]
            continue
        now = {o: _shape(spec, o, sizes) for o in spec.operands}
        fits = {o: spec.held_words(o, now[o]) <= spec.buffers[o] for o in spec.operands}
        if isinstance(action, Load):
            if not fits[action.operand]:
                return None
            laid = (sizes["sw"],) if action.operand == "I" and not window else ()
            shapes[action.operand] = now[action.operand] + laid
        elif isinstance(action, Compute | Save) and window:
            loaded = all(shapes.get(o) == now[o] for o in "IF") or isinstance(action, Save)
            if not loaded or saved >= spec.buffers["O"]:
                return None
            saved += isinstance(action, Save)
        elif isinstance(action, Compute):
            loaded = shapes.get("I") == now["I"] + (sizes["sw"],) and shapes.get("F") == now["F"]
            if not loaded or not fits["O"] or shapes.get("O", now["O"]) != now["O"]:
                return None
            shapes["O"] = now["O"]
        elif isinstance(action, Store | Requantise):
            ready = window or (fits["O"] and shapes.get("O", now["O"]) == now["O"])
            if not ready or (isinstance(action, Requantise) and shapes.get("P") != now["P"]):
                return None
        elif isinstance(action, Clear):
            shapes.pop("O", None)
            saved = 0
    return _State(sizes, shapes, saved)


def _shape(spec: AcceleratorSpec, operand: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return (sizes["oc"], 2) if operand == "P" else tuple(sizes[d] for d in spec.data[operand])


@st.composite
def _wanted(draw: st.DrawFn, spec: AcceleratorSpec) -> dict[str, int]:
    """Sizes and settings to send: dims of the default tile or less, images of any size up to that."""
    values = {d: draw(st.integers(1, s)) for d, s in zip(spec.dims, spec.tile.size, strict=True)}
    if spec.form is IMAGE:
        whole = spec.sizes()
        values |= {d: draw(st.integers(1, whole[d])) for d in ("ih", "iw")}
        values |= {d: draw(st.integers(1, 3)) for d in ("sh", "sw", "dh", "dw")}
        values |= {d: draw(st.integers(0, 3)) for d in ("pt", "pl")}
    return values | draw(post_settings())


@st.composite
def _free_program(draw: st.DrawFn, spec: AcceleratorSpec, longest: int) -> tuple[Words, str]:
    """Opcodes, and combinations of bits, that the state of the device allows."""
    state = _State(spec.sizes())
    wanted = draw(_wanted(spec))
    words: list[int] = []
    names: list[str] = []
    for _ in range(draw(st.integers(0, longest))):
        if draw(st.integers(0, 5)) == 0:
            wanted = draw(_wanted(spec))
        legal = [
            (opcode, after)
            for opcode in (*spec.opcodes.values(), *draw(_combinations(spec)))
            if (after := _after(spec, opcode, state, wanted)) is not None
        ]
        if not legal:
            break
        opcode, after = draw(st.sampled_from(legal))
        words += draw(_words(spec, opcode, after, wanted))
        state = after
        names.append(opcode.name)
    return np.array(words, dtype=np.uint32), f"opcodes {', '.join(names)}"


@st.composite
def _combinations(draw: st.DrawFn, spec: AcceleratorSpec) -> list[Opcode]:
    if not spec.bits:
        return []
    names = draw(st.sets(st.sampled_from(spec.bits), min_size=2))
    parts = [spec.opcodes[name] for name in spec.bits if name in names]
    word = sum(part.literal or 0 for part in parts)
    if any(op.literal == word for op in spec.opcodes.values()):
        return []
    host = tuple(action for part in parts for action in part.payload)
    device = tuple(action for part in parts for action in part.device)
    return [Opcode("+".join(part.name for part in parts), (SendLiteral(word), *host), device)]


@st.composite
def _words(
    draw: st.DrawFn, spec: AcceleratorSpec, opcode: Opcode, after: _State, wanted: Mapping[str, int]
) -> list[int]:
    """The words of an opcode, its tiles with the sizes that they have after it."""
    tile = tuple(wanted[d] for d in spec.dims)
    operands = {}
    for operand in opcode.sends:
        shape = _shape(spec, operand, after.sizes)
        operands[operand] = draw(elements(spec, operand, shape))
    return opcode_words(spec, opcode, tile, operands, None, wanted)


@st.composite
def conv_ill_formed(draw: st.DrawFn, spec: AcceleratorSpec) -> tuple[Words, str]:
    """A stream that is probably wrong: words cut, changed, inserted or dropped; opcodes in any order under
    any sizes; or noise. What the model makes of it is the reference."""
    words, text = draw(conv_well_formed(spec))
    fault = draw(st.sampled_from(["cut", "change", "insert", "drop", "noise"] + 4 * ["any order"]))
    if fault == "noise":
        return np.array(draw(st.lists(_WORD, min_size=1, max_size=40)), dtype=np.uint32), "noise"
    if fault == "any order" or words.size == 0:
        return draw(_any_order(spec))
    at = draw(st.integers(0, words.size - 1))
    if fault == "cut":
        return words[:at], f"{text}; cut at word {at}"
    if fault == "drop":
        return np.delete(words, at), f"{text}; word {at} dropped"
    word = draw(_WORD | st.sampled_from([op.literal or 0 for op in spec.opcodes.values()]))
    if fault == "insert":
        return np.insert(words, at, np.uint32(word)), f"{text}; {word:#x} inserted at word {at}"
    changed = words.copy()
    changed[at] = word
    return changed, f"{text}; word {at} changed to {word:#x}"


@st.composite
def _any_order(draw: st.DrawFn, spec: AcceleratorSpec) -> tuple[Words, str]:
    """The opcodes of a flow, then any, each under one of two sets of sizes, of which one may be illegal."""
    names = [name for name, _ in spec.flows[spec.selected_flow].opcodes()]
    names = [*spec.init_opcodes, *names, *draw(st.lists(st.sampled_from(sorted(spec.opcodes)), max_size=8))]
    names = names[draw(st.integers(0, len(names) - 1)) if draw(st.booleans()) else 0 :]
    pair = [draw(_wanted(spec)), draw(_wanted(spec))]
    if draw(st.integers(0, 2)) == 0:
        name = draw(st.sampled_from([n for n in pair[1] if n not in ("zp", "lo", "hi")]))
        pair[1][name] = draw(st.sampled_from([0, (1 << _BITS[name]) - 1]))
    state = _State(spec.sizes())
    words: list[int] = []
    parts: list[str] = []
    for name in names:
        wanted = draw(st.sampled_from(pair))
        sizes = dict(state.sizes)
        for host in spec.opcodes[name].host:
            if isinstance(host, SendDim):
                sizes.update({f.dim: wanted[f.dim] for f in host.fields})
                sizes["fw"] = sizes["fh"] if spec.tied else sizes["fw"]
        state = replace(state, sizes=sizes)
        tiles = {o: np.zeros(_shape(spec, o, sizes), np.int64) for o in spec.opcodes[name].sends}
        tile = tuple(wanted[d] for d in spec.dims)
        words += opcode_words(spec, name, tile, tiles, None, wanted)
        parts.append(name)
    return np.array(words, dtype=np.uint32), f"any order: {', '.join(parts)}"


def conv_word_program(spec: AcceleratorSpec) -> st.SearchStrategy[tuple[Words, str]]:
    """Words for a device of `spec`, well-formed or not, and what they are."""
    return conv_well_formed(spec) | conv_ill_formed(spec)
