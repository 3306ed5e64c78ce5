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
from tests.isa.conv_specs import FIELD_BITS, conv_specs
from tests.isa.conv_streams import Convolution, conv_program
from tests.isa.strategies import (
    Program,
    Words,
    channels,
    damaged,
    elements,
    matrices,
    post_settings,
    specs,
    well_formed,
    word_program,
)
from tests.isa.streams import Matrix, opcode_words

from axiloom.isa import AcceleratorSpec, Opcode
from axiloom.isa.check.flows import loop_orders
from axiloom.isa.contract.types import (
    Clear,
    Compute,
    Load,
    Requantise,
    Save,
    SendDim,
    SendLiteral,
    SetDims,
    Store,
)
from axiloom.isa.kernels.forms import IMAGE, MATMUL, WINDOW

__all__ = [
    "conv_ill_formed",
    "conv_operands",
    "conv_specs",
    "conv_well_formed",
    "conv_word_program",
    "convolutions",
]


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

    def loaded() -> bool:
        return all(shapes.get(o) == _laid(spec, o, sizes) for o in spec.form.inputs)

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
            shapes[action.operand] = _laid(spec, action.operand, sizes)
        elif isinstance(action, Compute | Save) and window:
            if not (isinstance(action, Save) or loaded()) or saved >= spec.buffers["O"]:
                return None
            saved += isinstance(action, Save)
        elif isinstance(action, Compute):
            if not loaded() or not fits["O"] or shapes.get("O", now["O"]) != now["O"]:
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


def _laid(spec: AcceleratorSpec, operand: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Under which sizes a tile is the one that was loaded."""
    return _shape(spec, operand, sizes) + tuple(sizes[name] for name in spec.form.laid.get(operand, ()))


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


def conv_ill_formed(spec: AcceleratorSpec) -> Program:
    """As `strategies.ill_formed`."""
    return damaged(spec, conv_well_formed(spec), _any_order(spec))


@st.composite
def _any_order(draw: st.DrawFn, spec: AcceleratorSpec) -> tuple[Words, str]:
    """The opcodes of a flow, then any, each under one of two sets of sizes, of which one may be illegal."""
    names = [name for name, _ in spec.flows[spec.selected_flow].opcodes()]
    names = [*spec.init_opcodes, *names, *draw(st.lists(st.sampled_from(sorted(spec.opcodes)), max_size=8))]
    names = names[draw(st.integers(0, len(names) - 1)) if draw(st.booleans()) else 0 :]
    for again in draw(st.lists(st.sampled_from(sorted(spec.opcodes)), max_size=2)):
        names.insert(draw(st.integers(0, len(names))), again)  # such as other sizes before a compute
    pair = [draw(_wanted(spec)), draw(_wanted(spec))]
    if draw(st.integers(0, 2)) == 0:
        name = draw(st.sampled_from([n for n in pair[1] if n not in ("zp", "lo", "hi")]))
        pair[1][name] = draw(st.sampled_from([0, (1 << FIELD_BITS[name]) - 1]))
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


ANY = st.one_of(specs(), specs(post=True), conv_specs(), conv_specs(post=True))
"""Of products and of convolutions, with post-processing and without."""


def any_well_formed(spec: AcceleratorSpec) -> Program:
    return well_formed(spec) if spec.form is MATMUL else conv_well_formed(spec)


def any_program(spec: AcceleratorSpec) -> Program:
    return word_program(spec) if spec.form is MATMUL else conv_word_program(spec)
