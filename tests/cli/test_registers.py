"""An accelerator with registers of its own: what cannot have them yet is refused, in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom.cli import main

START = Path(__file__).parents[2] / "examples" / "hardware" / "start_matmul"
SPEC = ["--spec", str(START / "matmul_start.json")]
RTL = ["--rtl", str(START / "matmul_start.v"), "--top", "matmul_start"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ["run", "matmul:8x8x8", *RTL, "--pipeline", "copying"],
            2,
            "which no pass may move: take `published`",
        ),
        (["run", "matmul:8x8x8", *RTL, "--os", "linux"], 2, "Linux programs do not reach them yet"),
        (["run", "matmul:8x8x8", "--rtl", "model"], 2, "which only RTL of yours has: give it"),
        (["run", "matmul:8x8x8"], 2, "which only RTL of yours has: give it"),
        (["verilog"], 3, "engines of ours have no registers"),
        (
            ["board", "new", "pynq-z2", *RTL, "-o", "never"],
            2,
            "board folders do not have the accelerator's own",
        ),
    ],
)
def test_refusals(
    words: list[str],
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*words, *SPEC]) == code
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_the_driver_writes_and_waits(capsys: pytest.CaptureFixture[str]) -> None:
    """Sizes and start before the words, done behind the result."""
    assert main(["compile", "matmul:8x8x8", *SPEC, *RTL]) == 0
    text = capsys.readouterr().out
    order = [
        "dma_device_write(32784, 8)",
        "dma_device_write(32768, 1)",
        "dma_start_send(",
        "dma_get_tile_i32(",
        "dma_device_wait(32768, 2)",
    ]
    places = [text.index(one) for one in order]
    assert places == sorted(places)
