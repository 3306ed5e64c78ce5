"""Kernels on VTA and HLSCNN by their commands, on any data: proved, and a wrong command is found."""

from __future__ import annotations

from pathlib import Path

import pytest

z3 = pytest.importorskip("z3")
pytest.importorskip("bitwuzla")

from axiloom.base.errors import SpecError  # noqa: E402
from axiloom.isa.instructions import library, mappings  # noqa: E402
from axiloom.prove.mapping import prove  # noqa: E402
from axiloom.prove.verdict import Answer  # noqa: E402


def answers(name: str, sizes: dict[str, int], right: str = "", wrong: str = "") -> set[Answer]:
    file: Path = library.mappings()[name]
    text = file.read_text()
    assert right in text
    mapped = mappings.parse(text.replace(right, wrong), file.name, name, library.target, sizes)
    return {one.answer for one in prove(mapped, 100)}


SMALL = {"F": 1, "B": 1, "K": 1}


def test_a_layer_on_hlscnn() -> None:
    assert answers("hlscnn_layer", SMALL) == {Answer.HOLDS}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("vta_matmul", {"M": 4, "K": 2, "N": 2}),
        ("vta_matmul", {"M": 3, "K": 4, "N": 1}),
        ("hlscnn_layer", {"F": 2, "B": 2, "K": 2}),
        ("hlscnn_layer", {"F": 1, "B": 1, "K": 2, "S": 2, "R": 4}),
    ],
)
def test_larger(name: str, sizes: dict[str, int]) -> None:
    assert answers(name, sizes) == {Answer.HOLDS}


WRONG = [
    ("vta_matmul", {"M": 1, "N": 2, "K": 1}, "K << 86 | K << 118", "K << 86"),
    ("vta_matmul", {"M": 1, "N": 1, "K": 2}, "k << 11 | k << 22", "k << 11"),
    ("hlscnn_layer", {"F": 1, "B": 1, "K": 2}, "r * S + i, c * S + j] * w", "r * S + j, c * S + i] * w"),
    ("hlscnn_layer", {"F": 1, "B": 1, "K": 1}, "max(total, 0) if last", "total if last"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "sizes", "right", "wrong"), WRONG)
def test_a_wrong_mapping_is_found(name: str, sizes: dict[str, int], right: str, wrong: str) -> None:
    assert Answer.VIOLATED in answers(name, sizes, right, wrong)


def test_program_writes_the_host_alone() -> None:
    with pytest.raises(SpecError, match="program writes spad0: only commands change the target"):
        answers("hlscnn_layer", SMALL, "soc[place] = uint8(x", "spad0[place] = uint8(x")


def test_the_host_writes_at_given_sizes_only() -> None:
    from axiloom.isa.formal.any_size import any_size

    mapped = mappings.read(library.mappings()["hlscnn_layer"], library.target, SMALL)
    with pytest.raises(SpecError, match="program writes soc: a mapping that does is proved at given sizes"):
        any_size(mapped)
