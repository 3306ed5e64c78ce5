"""Which function of a file is meant, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom.base.errors import UsageError
from axiloom.cli import main
from axiloom.read import models
from axiloom.read.mlir import file as mlir_file

PRODUCT = """func @{name}(%A: memref<4x4xi32>, %B: memref<4x4xi32>, %C: memref<4x4xi32>) {{
  linalg.matmul {{__internal_linalg_transform__ = "ACC"}}
    ins(%A, %B : memref<4x4xi32>, memref<4x4xi32>) outs(%C : memref<4x4xi32>)
  return
}}
"""
MAIN = """func @main() {
  %A = call @product() : () -> memref<?x?xi32>
  another.op %A
  return
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.mlir"
    path.write_text(PRODUCT.format(name="one") + MAIN)
    return path


def test_the_one_that_computes(file: Path) -> None:
    mlir = mlir_file.read_mlir(str(file))
    assert "main" not in mlir
    assert models.meant(str(file)) == [f"{file}:one"]
    assert mlir_file.remarks(str(file), mlir) == [
        f"{file}: one is compiled; not read: main",
        f"{file}: __internal_linalg_transform__ is ignored: it says which passes another compiler runs on "
        "the op",
    ]


def test_annotations_that_change_nothing_are_named(file: Path) -> None:
    file.write_text(
        PRODUCT.format(name="one").replace(
            "{__internal", '{accel_dmaAddress = 41, accel_opcode_map_str = "opcode_map<>", __internal'
        )
    )
    said = mlir_file.remarks(str(file), mlir_file.read_mlir(str(file)))
    assert [one.split(": ")[1] for one in said] == [
        "__internal_linalg_transform__ is ignored",
        "accel_dmaAddress is ignored",
        "accel_opcode_map_str is ignored",
    ]
    assert "no accel_opcode_flow_str goes with it; the specification's opcodes and flow" in said[-1]


@pytest.mark.slow
def test_several_are_run_in_turn_and_compiled_by_name(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(PRODUCT.format(name="one") + MAIN + PRODUCT.format(name="two"))
    assert models.meant(str(file)) == [f"{file}:one", f"{file}:two"]
    with pytest.raises(UsageError, match=r"a.mlir has 2 functions: one, two; name one: .*a.mlir:one"):
        mlir_file.read_mlir(str(file))
    assert main(["run", str(file), "--accel", "v1", "--size", "4"]) == 0
    out = capsys.readouterr().out
    assert out.count("Result: equal to NumPy in all 16 elements") == 2
    assert f"{file}:two (2 of 2)" in out
    assert (
        main(["run", str(file), "--accel", "v1", "--size", "4", "--json", str(file.with_suffix(".json"))])
        != 0
    )
    assert "has 2 functions: name one" in capsys.readouterr().err
    assert main(["compile", f"{file}:two", "--accel", "v1", "--size", "4"]) == 0


def test_faults_are_at_their_place_in_the_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(MAIN + PRODUCT.format(name="two").replace("linalg.matmul", "linalg.mattmul"))
    assert main(["compile", f"{file}:two", "--accel", "v1", "--size", "4"]) != 0
    assert f"{file}:7:3: Operation linalg.mattmul is not registered" in capsys.readouterr().err


def test_a_flow_that_is_asked_for_goes_before_annotations(file: Path) -> None:
    file.write_text(
        PRODUCT.format(name="one").replace("{__internal", '{accel_opcode_flow_str = "(s)", __internal')
    )
    said = mlir_file.remarks(str(file), mlir_file.read_mlir(str(file)), "Cs")
    assert said[-1] == (
        f"{file}: accel_opcode_flow_str is ignored: --flow Cs was given, so the specification's opcodes and "
        "flow are taken"
    )


def test_places_of_a_template_need_values(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(PRODUCT.format(name="${NAME}"))
    assert main(["run", str(file), "--accel", "v1_4"]) == 4
    assert "${NAME} is a place of a template; give -D NAME=..." in capsys.readouterr().err
    assert main(["run", str(file), "--accel", "v1_4", "-D", "NAM=one"]) == 2
    assert "-D NAM:" in capsys.readouterr().err
    assert main(["run", str(file), "--accel", "conv_v3", "-D", "NAME=one"]) == 4
    assert "conv_v3 cannot execute it" in capsys.readouterr().err
