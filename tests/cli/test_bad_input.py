"""Files and names that are broken, on the command line: one line and a code that says whose fault it is."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from axiloom import boards
from axiloom.base.errors import UsageError
from axiloom.calibration import measurements
from axiloom.cli import main
from axiloom.drivergen import matmul_mlir, parse_workload

DRIVERS = Path(__file__).parents[1] / "system" / "drivers"
PROFILE = (Path(boards.__file__).parent / "pynq-z2" / "profile.toml").read_text()
NINES = "9" * 5000


def fails(capsys: pytest.CaptureFixture[str], code: int, *argv: str) -> str:
    assert main(argv) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("axiloom: ")
    assert err.count("\n") == 1
    assert len(err) < 1500
    return err.removeprefix("axiloom: ").rstrip("\n")


@pytest.mark.parametrize("command", ["compile", "run"])
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"// \xe9\n", "1:4: byte 0xe9 is not UTF-8; save the file as UTF-8"),
        (matmul_mlir(4, 4, 4).encode("utf-16"), "1:1: byte 0xff is not UTF-8; save the file as UTF-8"),
        (b'func.func @f() attributes {x = "a\0"} {}', "1:34: a NUL byte; a text in UTF-8 is expected"),
    ],
)
def test_mlir_that_is_no_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, data: bytes, says: str
) -> None:
    file = tmp_path / "x.mlir"
    file.write_bytes(data)
    assert fails(capsys, 4, command, str(file)) == f"{file}:{says}"


def test_mlir_behind_a_byte_order_mark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.mlir"
    file.write_bytes(b"\xef\xbb\xbf" + matmul_mlir(4, 4, 4).encode())
    assert main(["compile", str(file), "--accel", "v3_4"]) == 0
    assert "dma_status matmul(" in capsys.readouterr().out


def test_a_function_without_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.mlir"
    file.write_text("func.func @f() {\n  func.return\n}")
    says = f"{file}: its function has no arguments: there is nothing to offload"
    assert fails(capsys, 4, "compile", str(file)) == says


PROBLEMS = {
    f"matmul:{NINES}x1x1": "sizes must be from 1 to 65536",
    f"conv:{NINES}_1_1_1_1": "sizes, strides and dilations must be from 1 to 8192",
    f"conv:4x4,1,1x1,1,pad={NINES}": "padding must be from 0 to 8192",
    f"conv:4x4,1,1x1,1,stride={NINES}x1": "sizes, strides and dilations must be from 1 to 8192",
    f"copy:{NINES}": "a copy is copy:N, N from 1 to 16777216 words",
    f"matmul:4x4x4:{'z' * 5000}": "uint8, float32 or fixed<BITS,FRACTION>",
    "matmul:\u0663x\u0663x\u0663": "or a file *.mlir",
    "conv:4x4,1,1x1,1,pad=9999": "padding must be from 0 to 8192",
}


@pytest.mark.parametrize("text", PROBLEMS, ids=range(len(PROBLEMS)))
def test_problems(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_workload(text)
    assert str(caught.value).endswith(PROBLEMS[text])
    assert len(str(caught.value)) < 600


def test_a_problem_that_no_memory_holds(capsys: pytest.CaptureFixture[str]) -> None:
    message = fails(capsys, 4, "compile", "matmul:65536x65536x65536")
    assert message.endswith("memref<65536x65536xi32> is larger than the 4 GiB that 32-bit addresses reach")


@pytest.mark.parametrize(
    "argv",
    [
        ("compile", "x" * 5000 + ".mlir"),
        ("compile", "matmul:4x4x4", "--spec", "x" * 5000),
        ("run", "matmul:4x4x4", "--board", "x" * 5000),
        ("run", "matmul:4x4x4", "--board", "x" * 5000 + ".toml"),
    ],
    ids=["mlir", "spec", "board", "toml"],
)
def test_names_that_no_file_has(capsys: pytest.CaptureFixture[str], argv: tuple[str, ...]) -> None:
    assert main(argv) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("profile", "says"),
    [
        (f"cpu_hz = {NINES}", "not a board profile: a number of thousands of digits"),
        (f"a = {'[' * 3000}{']' * 3000}", "not a board profile: too many things inside each other"),
        (PROFILE + "\0", "a NUL byte; a text in UTF-8 is expected"),
        (PROFILE.replace("\n", "\n# \udce9\n", 1), "2:3: byte 0xe9 is not UTF-8; save the file as UTF-8"),
    ],
)
def test_profiles(tmp_path: Path, profile: str, says: str) -> None:
    file = tmp_path / "x.toml"
    file.write_text(profile, errors="surrogateescape")
    with pytest.raises(UsageError) as caught:
        boards.load(file)
    assert str(caught.value).startswith(str(file))
    assert str(caught.value).endswith(says)


def test_a_profile_behind_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_bytes(b"\xef\xbb\xbf" + PROFILE.encode())
    assert boards.load(file) == boards.load("pynq-z2")


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_clock_of_thousands_of_digits(digits: int) -> None:
    with pytest.raises(UsageError, match=r"fabric_hz must be 1,000,000 to 2,000,000,000, not"):
        boards.load(f"pynq-z2@{'9' * digits}")


@pytest.mark.parametrize(
    ("option", "data", "says"),
    [
        ("--load", b"no array", "no .npy file; numpy.save writes one"),
        ("--expect", b"\x93NUMPY\x01\x00v\x00{'descr'", "a broken .npy file: "),
    ],
)
def test_arrays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, data: bytes, says: str
) -> None:
    file = tmp_path / "a.npy"
    file.write_bytes(data)
    message = fails(capsys, 2, "simulate", str(DRIVERS / "right.c"), "--size", "4", option, f"A={file}")
    assert message.startswith(f"{file}: {says}")


@pytest.mark.slow
def test_a_driver_with_comments_in_latin_1_and_arrays_by_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """C is for the compiler to read; an array is written row by row whatever its order in the file."""
    shutil.copy(DRIVERS / "common.h", tmp_path)
    driver = tmp_path / "driver.c"
    driver.write_bytes(b"/* \xe9 */\n" + (DRIVERS / "right.c").read_bytes())
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-99, 99, (4, 4), np.int32) for _ in range(2))
    np.save(tmp_path / "A.npy", np.asfortranarray(a))
    np.save(tmp_path / "B.npy", b.astype(">i4"))
    np.save(tmp_path / "C.npy", np.asfortranarray(a @ b))
    files = {"--load": ("A", "B"), "--expect": ("C",)}
    arrays = [w for o, names in files.items() for n in names for w in (o, f"{n}={tmp_path}/{n}.npy")]
    code = main(["simulate", str(driver), "--accel", "v3_4", "--report", str(tmp_path / "page"), *arrays])
    assert code == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("cpu,,,,16,16,16,task-clock,nan,", "value must be positive, not nan"),
        ("cpu,,,,16,16,16,task-clock,1e999,", "value must be positive, not inf"),
        (f"cpu,,,,{NINES},16,16,task-clock,1,", "size, M, N, K and value must be numbers"),
        ("cpu,,,,16", "the line has not as many cells as the first one has columns"),
        ("cpu,,,,16,16,16,task-clock,1,,7,8", "the line has not as many cells as the first one has columns"),
        (f"cpu,,,,16,16,16,{'t' * 200_000},1,", "no CSV file: field larger than field limit (131072)"),
    ],
    ids=range(6),
)
def test_measurements(tmp_path: Path, line: str, says: str) -> None:
    file = tmp_path / "m.csv"
    file.write_text("\ufeff" + ",".join(measurements.COLUMNS) + f"\n{line}\n")
    with pytest.raises(UsageError) as caught:
        measurements.read(file)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--seed -1", "--seed: '-1' is not a number from 0 on"),
        ("--macs 0", "--macs: '0' is neither a number from 1 on nor most"),
        ("--macs -4", "--macs: '-4' is neither a number from 1 on nor most"),
        ("--calls 0", "--calls: '0' is not a number from 1 to 10,000"),
        ("--calls 99999999999", "--calls: '99999999999' is not a number from 1 to 10,000"),
        ("--accel nosuch", "no built-in accelerator `nosuch`; there are v1_4"),
        ("--accel v3 --size 5", "no built-in accelerator `v3_5`; did you mean"),
    ],
)
def test_numbers_and_names(options: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["run", "matmul:16x16x16", *options.split()])
    except SystemExit as left:  # by argparse
        code = left.code  # type: ignore[assignment]
    assert code == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith(f"axiloom: {says}")
    assert err.count("\n") == 1


def test_a_folder_and_a_file_of_another_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other, empty = tmp_path / "notes.txt", tmp_path / "empty.mlir"
    other.write_text("matmul")
    empty.write_text("\n")
    accepted = "accepted are FILE.mlir, FILE.onnx, FILE.py:FUNCTION and FILE.c"
    for verb in ("run", "compile"):
        assert fails(capsys, 2, verb, str(tmp_path)) == f"{tmp_path}: is a folder; {accepted}"
        found = fails(capsys, 2, verb, str(other))
        assert found == f"{other}: is no file of a problem by its name; {accepted}"
        found = fails(capsys, 4, verb, str(empty))
        assert found == f"{empty}: is empty; a function in MLIR is expected"
    assert fails(capsys, 2, "simulate", str(tmp_path)) == f"{tmp_path}: is a folder, not a file"
