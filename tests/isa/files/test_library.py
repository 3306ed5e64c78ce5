"""Files and built-in specifications."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.isa.conv_strategies import conv_specs
from tests.isa.strategies import specs

from axiloom import isa
from axiloom.base.errors import SpecError, UsageError
from axiloom.isa import AcceleratorSpec
from axiloom.isa.check.check import check
from axiloom.isa.files.json_form import read
from axiloom.isa.files.library import ENCODINGS, SPECS
from axiloom.isa.numerics import SIGNED


@given(specs() | specs(post=True) | conv_specs() | conv_specs(post=True))
@settings(max_examples=80)
def test_random_specifications_are_sound_and_round_trip(spec: AcceleratorSpec) -> None:
    assert check(spec) == []
    drafts, faults = read(isa.dumps(spec))
    assert faults == []
    assert [(d.spec, d.faults) for d in drafts] == [(spec, [])]


@pytest.mark.parametrize("packets", [None, (96, 32)])
def test_a_device_without_an_opcode_map(packets: tuple[int, int] | None, tmp_path: Path) -> None:
    """It comes back as it was, among others, and is refused where opcodes are needed."""
    link, file = (
        isa.AcceleratorSpec(isa.Link(name="loops", packets=packets, macs=3, stream_width=64)),
        tmp_path / "both.json",
    )
    file.write_text(isa.dumps(isa.builtin("v1_4"), link), encoding="utf-8")
    assert list(isa.load_links(file).values()) == [isa.builtin("v1_4"), link]
    with pytest.raises(SpecError, match="loops: no opcode map but `packets`"):
        isa.load_all(file)


@pytest.mark.parametrize(
    ("packets", "fault"),
    [
        ([1], "packets: has 1 entries: at least 2"),
        ([20_000, 4], "dma_config.inputBufferSize: 65536 bytes are too few: a packet sends 80000 at once"),
    ],
)
def test_faulty_packets(packets: list[int], fault: str, tmp_path: Path) -> None:
    file = tmp_path / "loops.json"
    file.write_text(json.dumps({"accelerators": [{"name": "loops", "packets": packets}]}), encoding="utf-8")
    assert isa.check_file(file) == [f"accelerators[0].{fault}"]


FILES = ("bitmask", "literals")
"""The encodings that are files; the third is made of the first."""


@pytest.mark.parametrize("encoding", FILES)
def test_shipped_files_round_trip(encoding: str, tmp_path: Path) -> None:
    shipped = isa.load_all(SPECS / f"{encoding}.json")
    copy = tmp_path / "copy.json"
    copy.write_text(isa.dumps(*shipped.values()))
    assert isa.load_all(copy) == shipped
    assert isa.check_file(copy) == []
    assert isa.load(copy) == shipped["v1_4"]
    assert isa.load(copy, "v3_8") == shipped["v3_8"]


def test_builtins() -> None:
    names = ["v1_4", "v1_8", "v1_16", "v2_4", "v2_8", "v2_16", "v3_4", "v3_8", "v3_16", "v4_16"]
    assert isa.builtins() == names
    for name in names:
        for kind in SIGNED:
            for encoding in ENCODINGS:
                spec = isa.builtin(name, None, kind, encoding)
                assert spec.name == name
                assert spec.data_type is kind
                assert check(spec) == []
    assert isa.builtin("v3", 8) == isa.builtin("v3_8") == isa.builtin("v3_8", 8)
    assert isa.builtin("v4") == isa.builtin("v4_16")
    assert isa.builtin("v3_16").selected_flow == "Cs"
    assert [isa.builtin("v3", s).macs for s in (4, 8, 16)] == [16, 64, 64]


def test_v4() -> None:
    spec = isa.builtin("v4")
    assert spec.tile.size == (64, 64, 64)
    assert spec.tile.granule == (16, 16, 16)
    assert all(str(op.host[1]) == "send_dim(m | n << 10 | k << 20)" for op in spec.opcodes.values())


def test_encodings() -> None:
    def literals(name: str, encoding: str) -> dict[str, int | None]:
        return {n: op.literal for n, op in isa.builtin(name, encoding=encoding).opcodes.items()}

    assert literals("v1_4", "bitmask") == {"sAsBcCrC": None}
    assert literals("v2_4", "bitmask") == {"sA": 1, "sB": 2, "cCrC": 4}
    assert literals("v3_4", "bitmask") == {"sA": 1, "sB": 2, "cC": 4, "rC": 8}
    assert literals("v3_4", "combined") == literals("v3_4", "bitmask")
    assert isa.builtin("v2_4", encoding="combined").bits == ("sA", "sB", "cCrC")
    assert isa.builtin("v3_4", encoding="combined").bits == ("sA", "sB", "cC", "rC")
    assert isa.builtin("v1_4", encoding="combined") == isa.builtin("v1_4")
    assert literals("v3_4", "literals") == {"sA": 0x22, "sB": 0x23, "cC": 0xF0, "rC": 0x24, "reset": 0xFF}
    assert isa.builtin("v3_4", encoding="literals").init_opcodes == ("reset",)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: isa.builtin("v5"),
            "no built-in accelerator `v5`; did you mean `v4_16`?; there are "
            "v1_4, v1_8, v1_16, v2_4, v2_8, v2_16, v3_4, v3_8, v3_16, v4_16, conv_v3, conv_v4, "
            "loopback, identity, fifo",
        ),
        (lambda: isa.builtin("v3_16", 8), "`v3_16` says another size than 8; give one of them"),
        (
            lambda: isa.builtin("v3", data_type="int7"),
            "unknown type `int7`; did you mean `int8`?; there are int8, int16, int32, uint8, float32, "
            "fixed<BITS,FRACTION>, ufixed<8,FRACTION>, adaptivfloat<8,3>",
        ),
        (
            lambda: isa.builtin("v3", encoding="literal"),
            "unknown encoding `literal`; did you mean `literals`?; there are bitmask, literals, combined",
        ),
        (lambda: isa.load("absent.json"), "absent.json: no such file"),
    ],
)
def test_usage_errors(call: Any, message: str) -> None:
    with pytest.raises(UsageError) as error:
        call()
    assert str(error.value) == message


def test_unknown_accelerator_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    path.write_text(isa.dumps(isa.builtin("v3_4"), isa.builtin("v3_8")))
    with pytest.raises(UsageError) as error:
        isa.load(path, "v3_9")
    assert str(error.value) == f"{path}: no accelerator `v3_9`; did you mean `v3_8`?; it has v3_4, v3_8"


def test_load_lists_all_faults_of_all_accelerators(tmp_path: Path) -> None:
    body = json.loads(isa.dumps(isa.builtin("v3_4"), isa.builtin("v3_8")))
    body["accelerators"][0]["selected_flow"] = "cs"
    body["accelerators"][1]["macs"] = 3
    path = tmp_path / "two.json"
    path.write_text(json.dumps(body))
    with pytest.raises(SpecError) as error:
        isa.load(path, "v3_8")
    assert list(error.value.faults) == [
        f"{path}: accelerators[0].selected_flow: unknown flow `cs`; did you mean `Cs`?; "
        "the flows are Ns, As, Bs, Cs",
        f"{path}: accelerators[1].macs: 3 is not a power of two",
    ]


def test_find(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(isa.dumps(isa.builtin("v2_8")))
    assert isa.find(str(path)) == isa.builtin("v2_8")
    assert isa.find("v2", 8) == isa.builtin("v2_8")
    with pytest.raises(UsageError):
        isa.find("absent.json")


def test_schema_is_valid_and_accepts_the_shipped_files() -> None:
    jsonschema.Draft202012Validator.check_schema(isa.schema())
    for encoding in FILES:
        jsonschema.validate(json.loads((SPECS / f"{encoding}.json").read_text()), isa.schema())


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda s: (
            st.lists(s)
            | st.dictionaries(
                st.sampled_from(
                    ["accelerators", "name", "dims", "data", "device", "opcode_map", "tile", "cpu"]
                ),
                s,
            )
        ),
    )
)
def test_any_json_is_faulty_but_never_breaks_the_reader(document: Any) -> None:
    drafts, faults = read(json.dumps(document))
    assert faults or any(draft.faults for draft in drafts)
