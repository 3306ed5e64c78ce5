"""Specifications that are no text, no JSON, or hold what JSON has and no specification: one line a fault."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.isa.edits import Body, both, put, swap

from axiloom import isa
from axiloom.base.errors import SpecError, UsageError
from axiloom.isa.files.grammar import GrammarError, parse_opcode_flow, parse_opcode_map

TEXT = isa.dumps(isa.builtin("v3_4"))
NINES = "9" * 5000


def faults(tmp_path: Path, data: str | bytes) -> list[str]:
    """Those of a file; it is refused, and each is one line that a terminal shows."""
    path = tmp_path / "x.json"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    with pytest.raises(SpecError) as caught:
        isa.load_all(path)
    found = [fault.removeprefix(f"{path}: ") for fault in caught.value.faults]
    assert all(fault.isprintable() and len(fault) < 400 for fault in found)
    return found


def edited(edit: Callable[[Body], object]) -> str:
    document = json.loads(TEXT)
    edit(document["accelerators"][0])
    return json.dumps(document)


NUMBER = "is no number of a specification: at most 64 bits"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("[4, 4, 4]", f"[{NINES}, 4, 4]", f"accel_size[0]: {'9' * 80}... (5000 characters) {NUMBER}"),
        ("[4, 4, 4]", f"[4, 4, {'9' * 100}]", f"accel_size[2]: {'9' * 80}... (100 characters) {NUMBER}"),
        ("[4, 4, 4]", "[4, 1e999, 4]", f"accel_size[1]: inf {NUMBER}"),
        ("[4, 4, 4]", "[4, 1e300, 4]", f"accel_size[1]: 1e+300 {NUMBER}"),
        ("[4, 4, 4]", "[NaN, 4, 4]", f"accel_size[0]: NaN {NUMBER}"),
        ("[4, 4, 4]", "[4, 4, -Infinity]", f"accel_size[2]: -Infinity {NUMBER}"),
        ('"1.0"', "NaN", f"version: NaN {NUMBER}"),
        ("[4, 4, 4]", f"{'[' * 900}{']' * 900}", "accel_size: more than 16 things inside each other"),
        ("[4, 4, 4]", f"[{'4, ' * 9999}4]", "accel_size: has 10000 entries: at most 16"),
        ('"m", "n", "k"', '"m", ' * 9999 + '"m"', "dims: has 10000 entries: at most 16"),
    ],
)
def test_values_that_nothing_here_can_be(tmp_path: Path, old: str, new: str, fault: str) -> None:
    assert old in TEXT
    assert f"accelerators[0].{fault}" in faults(tmp_path, TEXT.replace(old, new, 1))


def test_all_numbers_that_cannot_be_are_listed(tmp_path: Path) -> None:
    found = faults(tmp_path, TEXT.replace("[4, 4, 4]", f"[{NINES}, NaN, 1e999]", 1))
    assert [fault.split(":")[0] for fault in found] == [f"accelerators[0].accel_size[{i}]" for i in range(3)]


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        (put("name", "x\n"), r"name: `x\n` is not a name: letters, digits and `_.-`, a letter first"),
        (
            lambda body: body["opcode_flow_map"].update({"F\n": "opcode_flow<(sA sB cC rC)>"}),
            r"opcode_flow_map: `F\n` is not a name: letters, digits and `_.-`, a letter first",
        ),
        (
            put("dma_config", "address", "0x40400000\n"),
            r"dma_config.address: '0x40400000\n' is not an address: an integer from 0 or a string `0x...`",
        ),
        (
            put("dma_config", "address", "0x" + "9" * 50000),
            f"dma_config.address: '0x{'9' * 77}... (50004 characters) is not an address: an integer from 0 "
            "or a string `0x...`",
        ),
        (
            put("description", "\ud800"),
            r"description: '\ud800' holds half a surrogate pair, which is no character",
        ),
        (put("name", "a\udfff"), r"name: 'a\udfff' holds half a surrogate pair, which is no character"),
        (
            swap("opcode_map", "send_literal(1)", f"send_literal({NINES})"),
            "opcode_map: column 31: an integer of 5000 digits; words have 32 bits",
        ),
        (
            swap("opcode_map", "send(A)", f"send({NINES})"),
            "opcode_map: column 40: an integer of 5000 digits; words have 32 bits",
        ),
        (
            swap("opcode_map", "send(A)", f"send_dim(m << {NINES})"),
            "opcode_map: column 49: an integer of 5000 digits; words have 32 bits",
        ),
        (put("kernel", "linalg.matmul\n"), r"kernel: `linalg.matmul\n` is no kernel; "),
    ],
)
def test_texts_that_no_file_or_verilog_holds(
    tmp_path: Path, edit: Callable[[Body], object], fault: str
) -> None:
    found = faults(tmp_path, edited(edit))
    assert any(one.startswith(f"accelerators[0].{fault}") for one in found)


@pytest.mark.parametrize("name", [" ", " a", "a\r", "\0", "\u2028", "a\x1b[31m"])
def test_names_of_opcodes_are_printable(name: str) -> None:
    says = "a name has printable characters, and no blank first or last"
    with pytest.raises(GrammarError, match=says):
        parse_opcode_map(f'<"{name}" = [send_literal(1)]>')
    with pytest.raises(GrammarError, match=says):
        parse_opcode_flow(f'("{name}")')


def test_a_key_that_is_no_text(tmp_path: Path) -> None:
    found = faults(tmp_path, edited(put("\ud800", 1)))
    assert found == [r"accelerators[0]: the key '\ud800' holds half a surrogate pair"]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (
            TEXT.replace("version", "versi\xe9n").encode("latin-1"),
            "byte 0xe9 is not UTF-8; save the file as UTF-8",
        ),
        (TEXT.encode("utf-16"), "1:1: byte 0xff is not UTF-8; save the file as UTF-8"),
        (TEXT.encode() + b"\0", "a NUL byte; a text in UTF-8 is expected"),
        (b"", "not JSON: Expecting value: line 1 column 1 (char 0)"),
        (b"[" * 100_000, "not JSON: too many things inside each other"),
        (b'{"a": ' * 900 + b"1" + b"}" * 900, "a.a.a: more than 16 things inside each other"),
        (b" " * 300_000 + TEXT.encode(), "characters are no specification: at most 262144"),
    ],
)
def test_files_that_are_no_specification(tmp_path: Path, data: bytes, fault: str) -> None:
    (found,) = faults(tmp_path, data)
    assert found.endswith(fault)


def test_a_key_that_stands_twice(tmp_path: Path) -> None:
    found = faults(tmp_path, TEXT.replace('"version"', '"name": "other", "version"', 1))
    assert found == ["key `name` stands twice in one object; only one of the values can count"]


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    assert isa.load(path) == isa.builtin("v3_4")


def test_thousands_of_faults_are_not_all_printed(tmp_path: Path) -> None:
    def edit(body: Body) -> None:
        body.update({f"opcode_{number}": 1 for number in range(2000)})

    found = faults(tmp_path, edited(edit))
    assert len(found) == 101
    assert found[-1] == "and 1900 more faults"


def test_a_name_that_is_long_and_unknown_takes_no_time(tmp_path: Path) -> None:
    long = "x" * 100_000
    found = faults(tmp_path, edited(both(put(long, 1), put("kernel", long))))
    assert any(
        fault.startswith(f"accelerators[0]: unknown key `{'x' * 80}... (100000 char") for fault in found
    )


@pytest.mark.parametrize("name", ["\ud800.json", "x" * 5000])
def test_names_that_no_file_has(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be read: "):
        isa.load_all(name)


def test_tiles_of_any_size() -> None:
    v4 = isa.builtin("v4_16")
    assert isa.check_tile(v4, (10**4000, 16, 16)) == ["tile: ...x16x16 has a size above 2147483647"]


def test_what_a_broken_part_leaves_open_is_no_crash(tmp_path: Path) -> None:
    """Found by the fuzzer: settings of post-processing in an opcode, `post` and `data` both broken."""
    document = json.loads(isa.dumps(isa.builtin("v4_16", post=True)))
    body = document["accelerators"][0]
    body["post"] = 9
    del body["data"]["B"]
    found = faults(tmp_path, json.dumps(document))
    assert found[0] == "accelerators[0].post: 9 is not of type boolean"
