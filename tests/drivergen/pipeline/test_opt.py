"""axiloom-opt: what it adds to xdsl-opt. The passes themselves are tested in test_passes.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom.drivergen import matmul_mlir, opt


def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, *options: str) -> tuple[int, str, str]:
    file = tmp_path / "net.mlir"
    file.write_text(text)
    code = opt.main([*options, str(file)])
    out, err = capsys.readouterr()
    return code, out, err.replace(str(tmp_path), "")


def test_passes_of_xdsl_work_beside_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(tmp_path, capsys, matmul_mlir(4, 4, 4), "-p", "convert-linalg-to-loops")
    assert (code, err) == (0, "")
    assert "scf.for" in out


@pytest.mark.parametrize(
    ("options", "code", "error"),
    [
        (
            "accel-generalise,accel-annotate{accelerator=v9}",
            2,
            "axiloom-opt: no built-in accelerator `v9`",
        ),
        (
            "accel-generalise,accel-annotate{accelerator=v3_4 tile=8,8,8}",
            4,
            "axiloom-opt: tile: v3_4 takes only tiles of 4x4x4, not 8x8x8",
        ),
        (
            "accel-annotate{accelerator=v3_4}",
            4,
            "axiloom-opt: /net.mlir:2:3: linalg.matmul: accel-generalise comes first",
        ),
        ("accel-nothing", 4, "axiloom-opt: Unrecognized passes: ['accel-nothing']"),
    ],
)
def test_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: str, code: int, error: str
) -> None:
    found, out, err = run(tmp_path, capsys, matmul_mlir(4, 4, 4), "-p", options)
    assert (found, out) == (code, "")
    assert err.startswith(error)


def test_text_that_does_not_parse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(tmp_path, capsys, "func.func @f(")
    assert code == 4
    assert "/net.mlir:1:14" in err
