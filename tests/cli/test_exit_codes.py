"""Bad input on the command line: one clear line on stderr and its exit code, nothing half-written."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from axiloom import isa
from axiloom.cli import guarded, main

DRIVERS = Path(__file__).parents[1] / "system" / "drivers"


def fails(capsys: pytest.CaptureFixture[str], code: int, *argv: str) -> str:
    assert main(argv) == code
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return out + err


def test_a_faulty_specification_lists_all_faults(tmp_path: Path, capsys) -> None:
    data = json.loads(isa.dumps(isa.builtin("v3_4")))
    accelerator = data["accelerators"][0]
    accelerator["buffers"]["A"] = 3
    accelerator["opcode_flow_map"]["Cs"] = "opcode_flow<((sA sB cc) rC)>"
    accelerator["dma_config"]["inputBufferSize"] = 8
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(data))
    message = fails(capsys, 3, "spec", "check", str(file))
    for part in ("its buffer holds 3", "unknown opcode `cc`", "did you mean", "inputBufferSize"):
        assert part in message


def test_mlir_that_does_not_parse(tmp_path: Path, capsys) -> None:
    file = tmp_path / "bad.mlir"
    file.write_text("func.func @f( {")
    message = fails(capsys, 4, "compile", str(file))
    assert "bad.mlir:1" in message or "line 1" in message or ":1:" in message


def test_an_operation_nobody_can_offload(tmp_path: Path, capsys) -> None:
    file = tmp_path / "add.mlir"
    file.write_text("""
func.func @f(%a: memref<4x4xi32>, %b: memref<4x4xi32>, %c: memref<4x4xi32>) {
  linalg.add ins(%a, %b : memref<4x4xi32>, memref<4x4xi32>) outs(%c : memref<4x4xi32>)
  return
}
""")
    assert "linalg.add" in fails(capsys, 4, "compile", str(file))


def test_an_order_of_loops(capsys) -> None:
    assert main(["compile", "matmul:64x64x64", "--flow", "As", "--order", "k,m,n", "--emit", "linalg"]) == 0
    assert "permutation_map = affine_map<(d0, d1, d2) -> (d2, d0, d1)>" in capsys.readouterr().out


@pytest.mark.parametrize("order", ["n,m,k", "m,k", "m,n,q"])
def test_an_order_in_which_the_flow_is_wrong(capsys, order: str) -> None:
    message = fails(capsys, 2, "compile", "matmul:64x64x64", "--flow", "As", "--order", order)
    assert f"in the order {order};" in message
    assert "m,k,n or k,m,n" in message


def test_a_tile_that_does_not_fit(capsys) -> None:
    message = fails(capsys, 4, "compile", "matmul:256x256x256", "--accel", "v4", "--tile", "128,128,128")
    assert "4096" in message


def test_multiply_adds_that_do_not_fit(capsys) -> None:
    message = fails(capsys, 3, "compile", "matmul:16x16x16", "--macs", "48")
    assert "macs: 48 is not a power of two" in message


def test_a_flow_that_is_not_there(capsys) -> None:
    assert "did you mean" in fails(capsys, 2, "compile", "matmul:4x4x4", "--flow", "cs")


def test_a_problem_that_is_none(capsys) -> None:
    for problem in ("matmul:4x4", "matmul:4x4x0", "conv:1", "matmul:4x4x4:float", "nothing.mlir"):
        fails(capsys, 2, "compile", problem)


def test_a_length_register_too_narrow(tmp_path: Path, capsys) -> None:
    data = json.loads(isa.dumps(isa.builtin("v3_16")))
    data["accelerators"][0]["dma_config"]["lengthWidth"] = 8
    file = tmp_path / "narrow.json"
    file.write_text(json.dumps(data))
    assert "lengthWidth" in fails(capsys, 3, "run", "matmul:16x16x16", "--spec", str(file))


def test_a_driver_that_hangs(capsys) -> None:
    argv = (
        "simulate",
        str(DRIVERS / "missing_store.c"),
        "--accel",
        "v3",
        "--size",
        "4",
        "--watchdog",
        "20000",
    )
    message = fails(capsys, 6, *argv)
    assert "m_axis" in message
    assert "cC" in message


def test_what_is_for_a_board_on_a_serial_line(capsys: pytest.CaptureFixture[str]) -> None:
    given = fails(capsys, 2, "run", "matmul:4x4x4", "--clock", "25", "--port", "/dev/ttyUSB0")
    assert "axiloom run has no option `--clock`, which is of `axiloom serial run`" in given
    traced = fails(
        capsys, 2, "run", "matmul:4x4x4", "--board", "ulx3s", "--port", "/dev/x", "--trace", "x.fst"
    )
    assert "--trace: waveforms are of a simulated board: leave --port out" in traced


def test_several_accelerators(capsys: pytest.CaptureFixture[str]) -> None:
    alone = fails(capsys, 5, "verilog", "--accel", "v3_4,v4_16", "--part", "accelerator")
    assert alone == "axiloom: v3_4, v4_16: the Verilog of an accelerator alone is of one of them; name one\n"
    twice = fails(capsys, 3, "verilog", "--accel", "v3_4,v3_4")
    assert "v3_4: two accelerators of one system have this name" in twice
    driver = str(DRIVERS / "several.c")
    drawn = fails(capsys, 2, "simulate", driver, "--accel", "v3_4,v4_16", "--perfetto", "never.json")
    assert "a timeline is drawn of one accelerator" in drawn


@pytest.mark.parametrize(
    "command", ["board build .", "explore matmul:8x8x8 --device xc7z020", "run matmul:8x8x8 --board ulx3s"]
)
def test_a_clock_that_no_fabric_has(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    for clock in ("0", "-50", "nan", "inf", "fast", "1e-9"):
        assert main([*command.split(), f"--clock={clock}"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert f": --clock: {clock!r} is no clock from 1 to 2000 MHz; `axiloom " in line


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("run", "the following arguments are required: PROBLEM; `axiloom run --help`"),
        ("expore", "`expore` is none of run, .*; did you mean `explore`\\?; `axiloom --help`"),
        ("board chek", "`chek` is none of new, .*; did you mean `check`\\?; `axiloom board --help`"),
        (
            "run matmul:8x8x8 --bord=zedboard",
            "axiloom run has no option `--bord`; did you mean `--board`\\?;",
        ),
        ("run matmul:8x8x8 9", "axiloom run does not know what to do with `9`;"),
        ("run matmul:8x8x8 --dma sgg", "--dma: `sgg` is none of simple, sg; did you mean `sg`\\?;"),
        ("run matmul:8x8x8 --size x", "--size: invalid int value: 'x';"),
    ],
)
def test_what_is_not_understood_is_said_in_one_line(
    command: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.match(f"axiloom: .*{said}", line)


def test_a_problem_without_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "matmul"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("axiloom: problem `matmul` has no sizes; accepted are matmul:MxNxK or ")


def test_a_network_is_compiled_by_run(tmp_path: Path, capsys) -> None:
    file = tmp_path / "net.mlir"
    file.write_text("""
func.func @f(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %s = linalg.add ins(%a, %b : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %t = linalg.add ins(%s, %b : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  return %t : tensor<4xi32>
}
""")
    message = fails(capsys, 4, "compile", str(file))
    assert "cannot execute" in message
    assert message.rstrip().endswith(
        f"A network becomes many files: axiloom run {file} --keep DIR writes its C, and runs it"
    )


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 70, "BrokenPipeError"),
        (OSError(errno.ENOSPC, "No space left on device", "from", None, "to"), 2, "axiloom: to: No space"),
        (OSError(errno.EMFILE, os.strerror(errno.EMFILE)), 2, "a limit of this machine"),
        (MemoryError("Unable to allocate 9 TiB"), 2, "Unable to allocate 9 TiB: take a smaller problem"),
    ],
)
def test_what_the_system_refuses(
    capfd: pytest.CaptureFixture[str], error: Exception, code: int, says: str
) -> None:
    def command() -> None:
        raise error

    assert guarded(command) == code
    assert says in capfd.readouterr().err


def test_nobody_reads_the_output() -> None:
    command = f"{sys.executable} -m axiloom list | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
