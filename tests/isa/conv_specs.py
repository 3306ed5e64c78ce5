"""Sound specifications of convolutions, drawn by Hypothesis: any form, any encoding, any layout of words."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from axiloom.isa import AcceleratorSpec, Opcode
from axiloom.isa.contract.types import (
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
from axiloom.isa.files.grammar import parse_opcode_flow
from axiloom.isa.kernels.forms import IMAGE, WINDOW, Form
from axiloom.isa.numerics import SIGNED

_WORD = st.integers(0, 2**32 - 1)
FIELD_BITS = {
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
    kind = draw(st.sampled_from(SIGNED))
    if post:
        division = {**division, "sP": ("oc" if form is IMAGE else "", "P"), "cfgP": ("zp lo hi", "")}
        division["qO"] = (division["rO"][0], "qx")
        flows = {**flows, "q": "(sP " + flows["Os"].removeprefix("(").replace("rO", "qO")}
        init += " cfgP"
    bits = tuple(name for name in division if name != "qO") if form is WINDOW and draw(st.booleans()) else ()
    opcodes = draw(_opcodes(division, bool(bits)))
    if bits and "sIcO" in opcodes:
        opcodes, bits = _with_parts(opcodes, bits)
    spec = AcceleratorSpec.of(
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
                shift += FIELD_BITS[one]
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
