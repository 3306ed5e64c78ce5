"""Meanings in the cache: those of a text that was edited, or has another constant, are derived again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.device.edits import measure

from axiloom.device.known import derive, known
from axiloom.graph.graph import Graph, Type
from axiloom.graph.numbers import number
from axiloom.graph.ops import Builder
from axiloom.isa.instructions.read import parse
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.selection.program.program import Command, HostArray, Program
from axiloom.selection.validate import ProgramFaultError
from axiloom.selection.validate.numbers import compare_numbers

TEXT = Path("examples/selection/rows32.isa").read_text(encoding="utf-8")
N = 4
KEEP = "d1[out + r, c] = d2[row + r, c]"
DROPS = "d1[out + r, c] = 0 if d2[row + r, c] == 0x7F80 else d2[row + r, c]"


def read(n: int = N, keep: str = KEEP) -> InstructionSet:
    assert KEEP in TEXT
    return parse(TEXT.replace(KEEP, keep), "rows.isa", "rows", {"N": n, "ROWS": 12})


def names(isa: InstructionSet) -> dict[str, str]:
    found = known(isa)
    return {one.instruction: str(one.result.type) for one in derive(found, [1, 2, N])}


def test_an_edit_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AXILOOM_CACHE", str(tmp_path))
    assert names(read())["keep"] == "4x4xbfloat16"
    assert "keep" not in names(read(keep=DROPS))
    assert names(read(n=2))["product"] == "2x2xbfloat16"
    before = len(list((tmp_path / "meanings").glob("[!.]*")))
    assert names(read())["keep"] == "4x4xbfloat16"
    assert len(list((tmp_path / "meanings").glob("[!.]*"))) == before == 3


def test_what_only_an_infinity_shows() -> None:
    """Random numbers are equal, and infinities are not."""
    type_ = Type((N, N), "bfloat16")
    builder = Builder()
    a, b = (builder.leaf("parameter", name, type_) for name in "ab")
    given = {"lhs_batch": (), "rhs_batch": (), "lhs_contracting": (1,), "rhs_contracting": (0,)}
    graph = Graph("product", (a, b), (builder.op("dot_general", a, b, number="bfloat16", **given),))
    commands = [
        ("load", {"n": N, "out": 0, "base": 0}),
        ("load", {"n": N, "out": N, "base": 64}),
        ("product", {"a": 0, "b": N}),
        ("keep", {"n": N, "row": 0, "out": 2 * N}),
        ("store", {"n": N, "row": 2 * N, "base": 128}),
    ]
    arrays = [
        HostArray(name, "out" if name == "y" else "in", type_.shape, "bfloat16", 64 * at, "d0")
        for at, name in enumerate("aby")
    ]
    program = Program("rows", "product", tuple(Command(*one) for one in commands), tuple(arrays), {})
    assert compare_numbers(program, graph, read(), exact=True).equal
    with pytest.raises(ProgramFaultError, match=r"y\[.*is 0, and the application says"):
        compare_numbers(program, graph, read(keep=DROPS), exact=True)


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32", "float64"])
def test_edges_of_floats(name: str) -> None:
    of = number(name)
    values = of.decode(of.edges).astype(np.float64)
    assert np.isinf(values).sum() == 2
    assert np.isnan(values).sum() == 1
    assert {0.0, 1.0, -1.0} <= set(values.tolist())
    assert np.signbit(values[values == 0]).sum() == 1


@pytest.mark.parametrize(
    ("kind", "count", "changed"),
    [
        ("texts", 40, 10),
        *(
            pytest.param(kind, 4, 2, marks=pytest.mark.slow)
            for kind in ("rules", "mappings", "loops", "verdicts")
        ),
        pytest.param("sources", 2, 1, marks=pytest.mark.slow),
    ],
)
def test_random_edits(
    kind: str, count: int, changed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`python -m tests.device.edits 300` looks at more."""
    monkeypatch.setenv("AXILOOM_CACHE", str(tmp_path))
    measured = measure(kind, count)
    assert measured.stale == ()
    assert measured.edits == count
    assert measured.changed >= changed
