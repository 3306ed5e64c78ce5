"""Kernels on VTA and HLSCNN by their commands, on any data: proved, and a wrong command is found."""

from __future__ import annotations

from pathlib import Path

import pytest

z3 = pytest.importorskip("z3")
pytest.importorskip("bitwuzla")

from axiloom.errors import SpecError  # noqa: E402
from axiloom.isa.instructions import library, mappings  # noqa: E402
from axiloom.prove.mapping import prove  # noqa: E402
from axiloom.prove.verdict import Answer  # noqa: E402


def answers(name: str, sizes: dict[str, int], right: str = "", wrong: str = "") -> set[Answer]:
    file: Path = library.mappings()[name]
    text = file.read_text()
    assert right in text
    mapped = mappings.parse(text.replace(right, wrong), file.name, name, library.target, sizes)
    return {one.answer for one in prove(mapped, 100)}


SMALL = {"vta_matmul": {"M": 1, "NB": 1, "KB": 1}, "hlscnn_conv": {"F": 1, "B": 1, "K": 1}}


def test_a_matrix_product_on_vta() -> None:
    assert answers("vta_matmul", SMALL["vta_matmul"]) == {Answer.HOLDS}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("vta_matmul", {"M": 4, "NB": 2, "KB": 2}),
        ("vta_matmul", {"M": 3, "NB": 1, "KB": 4}),
        ("hlscnn_conv", {"F": 1, "B": 1, "K": 2}),
        ("hlscnn_conv", {"F": 1, "B": 1, "K": 2, "S": 2, "R": 4}),
    ],
)
def test_larger(name: str, sizes: dict[str, int]) -> None:
    assert answers(name, sizes) == {Answer.HOLDS}


WRONG = [
    ("vta_matmul", {"M": 1, "NB": 2, "KB": 1}, "KB << 86 | KB << 118", "KB << 86"),
    ("vta_matmul", {"M": 1, "NB": 1, "KB": 2}, "(k << 22)", "0"),
    ("vta_matmul", {"M": 1, "NB": 1, "KB": 1}, "2 | 1 << 7", "2 | 0 << 7"),
    ("hlscnn_conv", {"F": 1, "B": 1, "K": 2}, "r * S + i, c * S + j] * w", "r * S + j, c * S + i] * w"),
    ("hlscnn_conv", {"F": 1, "B": 1, "K": 1}, "max(total, 0) if last", "total if last"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "sizes", "right", "wrong"), WRONG)
def test_a_wrong_mapping_is_found(name: str, sizes: dict[str, int], right: str, wrong: str) -> None:
    assert Answer.VIOLATED in answers(name, sizes, right, wrong)


def test_program_writes_the_host_alone() -> None:
    with pytest.raises(
        SpecError, match="program writes inp: only commands change the target, and program itself"
    ):
        answers("vta_matmul", SMALL["vta_matmul"], "dram[ROWS + 16 * i * KB + e] = uint8(", "inp[i, e] = (")


def test_the_host_writes_at_given_sizes_only() -> None:
    from axiloom.isa.formal.any_size import any_size

    file = library.mappings()["vta_matmul"]
    mapped = mappings.read(file, library.target, SMALL["vta_matmul"])
    with pytest.raises(SpecError, match="program writes dram: a mapping that does is proved at given sizes"):
        any_size(mapped)
