"""What says nothing is no proof: instructions that never come, mappings in which the host computes."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples/instructions"
TEXT = (EXAMPLES / "dense.isa").read_text(encoding="utf-8")
LAYER = (EXAMPLES / "layer.mapping").read_text(encoding="utf-8")

SMALL = """
word = input(32)
y = memory(64, type=int8)
ptr = register(uint7)

@instruction(word[0:4] == 1)
def put():
    y[word[8:14]] = int8(word[16:24])

@instruction({when})
def extra():
    rows = word[8:15]
    {body}
"""
STEP = "y[ptr] = 0\n    ptr = uint7(ptr + 1)"


@pytest.mark.parametrize(
    ("when", "body", "said"),
    [
        ("word[0:4] == 20", "y[0] = 0", "extra: it comes: never seen"),
        ("word[0:4] == 2", "require(rows > 100 and rows < 50)\n    y[0] = 0", "it comes: never seen"),
        ("word[0:4] == 2", "for i in range(0):\n        y[i] = 0", "extra: it writes: never seen"),
        ("word[0:4] == 2", STEP, "extra: y, line 13: violated"),
        ("word[0:4] == 2", f"{STEP} if ptr < 64 else 0", "extra: y, line 13: violated"),
        ("word[0:4] == 2", f"{STEP} if ptr < 63 else 0", ""),
        ("word[0:4] == 2", "y[uint8(y[0])] = 1", "extra: y, line 13: violated"),
    ],
)
def test_instructions(
    when: str, body: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Claims of the other instruction are told as well; a register may be kept in range by the text."""
    monkeypatch.setenv("AXILOOM_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "small.isa"
    file.write_text(SMALL.format(when=when, body=body), encoding="utf-8")
    assert main(["prove", "spec", "--isa", str(file)]) == bool(said), capsys.readouterr()
    out = capsys.readouterr().out
    assert said in out
    assert "properties" in out
    assert "put" not in "".join(
        line for line in out.splitlines() if "violated" in line and "prop" not in line
    )


KERNEL = "max(sum(a[i, k] * b[k, j] for k in range(16)), 0)"
HELD = KERNEL.replace("a[", "x[").replace("b[", "w[")
READS = "c[i, j] = y[i, j]"
ROWS = "for i in range(M):\n        for j in range(16):\n            c"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (READS, f"c[i, j] = {KERNEL}", "result() reads the tensor"),
        (READS, f"c[i, j] = {HELD}", "computed by result(), on the host"),
        (READS, "c[i, j] = max(y[i, j], y[0, j])", "is computed by result(), on the host"),
        (READS, "c[i, j] = 0 * y[i, j]", "is the same whatever the target holds"),
        (READS, "c[i, j] = y[i, j] if M < 64 else 0", ""),
        (READS, "c[i, j] = y[63 - i, j]", "no command stored y["),
        (ROWS, ROWS.replace("M", "0"), "kernel() writes no element of c with M = 4"),
    ],
)  # fmt: skip
def test_mappings(old: str, new: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is refused or violated, and the other mapping is proved."""
    assert old in LAYER
    (tmp_path / "dense.isa").write_text(TEXT, encoding="utf-8")
    (tmp_path / "layer.mapping").write_text(LAYER, encoding="utf-8")
    (tmp_path / "other.mapping").write_text(LAYER.replace(old, new, 1), encoding="utf-8")
    files = [str(tmp_path / name) for name in ("other.mapping", "layer.mapping")]
    code = main(["prove", "mapping", *files, "--size", "M=4"])
    told = capsys.readouterr()
    assert bool(code) == bool(said)
    assert said in told.out + told.err
    assert any(line.startswith("layer ") and "holds" in line for line in told.out.splitlines())
