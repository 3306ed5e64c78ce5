"""Whatever stands in a file, there is a result or one line: texts and specifications with random mistakes.

What longer runs of the same mutations have found stands as a test of its own in `test_bad_texts.py` and
`tests/isa/test_bad_files.py`.
"""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.drivergen.dialects.test_bad_texts import within
from tests.drivergen.programs import Generic

from axiloom import isa
from axiloom.base.errors import AxiloomError, SpecError
from axiloom.drivergen import compile_cpu, compile_mlir, matmul_mlir
from axiloom.drivergen.network import compile_network, is_network

HERE = Path(__file__).parents[1]
SECONDS = 30.0
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

# --- MLIR ----------------------------------------------------------------------------------------------

_FILES = [*(HERE / "passes").glob("*.mlir"), *(HERE.parent / "fixtures" / "imported").glob("*.mlir")]
_TEXTS = [
    matmul_mlir(4, 8, 4),
    Generic(4, 8, 4, dtype="int8", tensors=True, zeroed=True).text,
    compile_mlir(matmul_mlir(8, 8, 8), isa.builtin("v3_4"), stop="linalg").stages["linalg"],
    *(text for file in sorted(_FILES) if len(text := file.read_text()) < 2500),
]
_WORDS = r"""
    " \ { } ( ) < > [ ] %0 %A %c0 0 -1 99999999999 1.5 1e999 0x7FC00000 i32 f32 i8 index memref<4x4xi32>
    tensor<?x4xi32> # #map @f ^bb0 func.func func linalg.generic linalg.fill(%A) ins outs attrs d0
    affine_map<(d0)->(d0)> "parallel" "reduction" loc("x") // dense<1> é ² null unit true ! -> : , = * mod
    linalg.yield arith.constant accel_dim opcode_map #accel.opcode_map<> x ? strided<[1,2]> tensor.pad scf.for
"""
_PIECES = [*_WORDS.split(), "\x01", "\n", " "]


@st.composite
def mutated_texts(draw: st.DrawFn) -> str:
    """A text that compiles, with one to three mistakes: cut off, left out, put in, twice, elsewhere."""
    text = draw(st.sampled_from(_TEXTS))
    for _ in range(draw(st.integers(1, 3))):
        words = re.findall(r"\s+|[\w.%@#]+|.", text)
        at, other = (draw(st.integers(0, len(words) - 1)) for _ in range(2))
        kind = draw(st.sampled_from(("cut", "drop", "put", "replace", "swap", "line")))
        if kind == "cut":
            words = words[: at + 1]
        elif kind == "drop":
            del words[at : at + 1 + other % 8]
        elif kind == "put":
            words.insert(at, draw(st.sampled_from(_PIECES)))
        elif kind == "replace":
            words[at] = draw(st.sampled_from(_PIECES))
        elif kind == "swap":
            words[at], words[other] = words[other], words[at]
        text = "".join(words) or " "
        if kind == "line":
            lines = text.split("\n")
            lines.insert(other % len(lines), lines[at % len(lines)])
            text = "\n".join(lines)
    return text


def one_line(error: AxiloomError) -> None:
    assert str(error).count("\n") == 0, str(error)
    assert "fault of Axiloom" not in str(error), str(error)


@QUICK
@given(
    mutated_texts(),
    st.sampled_from(("v3_4", "v4_16", "conv_v3", "loopback", None)),
    st.sampled_from(("published", "copying")),
)
def test_texts(text: str, accelerator: str | None, pipeline: str) -> None:
    spec = isa.builtin(accelerator) if accelerator else None

    def work() -> None:
        for compile_ in (
            lambda: compile_cpu(text),
            lambda: compile_mlir(text, spec, pipeline=pipeline),
            lambda: is_network(text),
            lambda: compile_network(text, spec, {}),
        ):
            try:
                compile_()
            except AxiloomError as error:
                one_line(error)

    within(SECONDS, work)


# --- specifications ------------------------------------------------------------------------------------

_DOCUMENTS = [
    isa.dumps(isa.builtin(name)) for name in ("v1_4", "v3_16", "v4_16", "conv_v3", "conv_v4", "loopback")
]
_DOCUMENTS += [isa.dumps(isa.builtin(name, post=True)) for name in ("v3_16", "v4_16", "conv_v4")]
_VALUES: list[Any] = [None, True, 0, -1, 1, 3, 1 << 31, 1 << 64, 10**30, 1e300, float("nan"), 0.5, 4.0]
_VALUES += [
    "",
    "x\n",
    "\ud800",
    "a" * 300,
    "0x10",
    "A",
    "m",
    "load A",
    "compute",
    "opcode_flow<(sA)>",
    "<a = []>",
]
_VALUES += [
    "(((",
    "opcode_map<sA = [send(0)]>",
    [],
    {},
    [[]],
    {"a": 1},
    ["m", "n", "k"],
    [1, 1, 1],
    "linalg.matmul",
]
_CHARACTERS = [*'()<>[],|="\\ 09A-é\n\x00', "<<", "sA", "send", "send_dim(zp)", "9" * 30]


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, one in inner for place in [(*at, key), *_places(one, (*at, key))]]


@st.composite
def mutated_specifications(draw: st.DrawFn) -> str:
    """A sound file with one to three values left out, replaced, edited, or under another key, too."""
    document = json.loads(draw(st.sampled_from(_DOCUMENTS)))
    for _ in range(draw(st.integers(1, 3))):
        places = _places(document)
        if not places:
            break
        *path, key = draw(st.sampled_from(places))
        owner = document
        for step in path:
            owner = owner[step]
        kind = draw(st.sampled_from(("drop", "replace", "edit", "rename")))
        if kind == "edit" and isinstance(owner[key], str):
            text = owner[key]
            at = draw(st.integers(0, len(text)))
            owner[key] = text[:at] + draw(st.sampled_from(_CHARACTERS)) + text[at + draw(st.integers(0, 2)) :]
        elif kind == "rename" and isinstance(owner, dict):
            owner[draw(st.sampled_from(("x", "é", "A", "m", "sA", "macs", "tile", "bits", "\ud800", "")))] = (
                owner[key]
            )
        elif kind == "drop":
            del owner[key]
        else:
            owner[key] = deepcopy(draw(st.sampled_from(_VALUES)))  # it may be mutated in its turn
    return json.dumps(document)


@settings(QUICK, max_examples=100)
@given(mutated_specifications())
def test_specifications(tmp_path_factory: Any, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed.json"
    path.write_text(text)
    found: list[isa.AcceleratorSpec] = []
    faults: list[str] = []

    def work() -> None:
        try:
            found.extend(isa.load_all(path).values())
        except SpecError as error:
            faults.extend(error.faults)

    within(SECONDS, work)
    assert found or faults
    assert all(fault.isprintable() for fault in faults)
    if found:  # what is sound is written as it was read
        again = path.with_name("again.json")
        again.write_text(isa.dumps(*found), encoding="utf-8")
        assert list(isa.load_all(again).values()) == found
