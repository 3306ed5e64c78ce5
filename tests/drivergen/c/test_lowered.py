"""Drivers in MLIR become C, transfer by transfer; what no driver has is refused at its place."""

from __future__ import annotations

import pytest
from benchmarks.published.lowered import drivers

from axiloom.drivergen.c.lowered import translate
from axiloom.errors import CompileError

DRIVERS = drivers()
ARRAY = "memref<16x32xi32>"


def lines(name: str) -> list[str]:
    return [line.strip() for line in translate(DRIVERS[name].text, "a.mlir").splitlines()]


def test_transfers_of_the_dialect_in_their_order() -> None:
    made = lines("transfers in the accel dialect, C added")
    assert made[made.index("for (int32_t n1 = 0; n1 < 16; n1 += 4) {") + 1].startswith(
        "for (int32_t n2 = 0; n2 < 8;"
    )
    assert {"int32_t A[512];", "int32_t B[256];", "int32_t C[128];"} <= set(made)
    sent = [line for line in made if "dma_start" in line]
    assert [line.split("(uint32_t)")[1] for line in sent] == [f"({n}), " for n in (1, 16, 1, 16, 1, 1, 16)]
    assert "dma_in_buffer()[(1) + i4 * 4 + i5] = *(word *)&A[n1 * 32 + n3 + i4 * 32 + i5];" in made
    added = "((uint32_t)(array8[i11 * 4 + i12]) + (uint32_t)(C[n1 * 8 + n2 + i11 * 8 + i12]))"
    assert f"C[n1 * 8 + n2 + i11 * 8 + i12] = {added};" in made


def test_calls_of_the_library_are_those_of_ours() -> None:
    made = lines("calls of the DMA library, C stays")
    assert "dma_in_buffer()[0] = *(word *)&array4[0];" in made
    assert "*(word *)&C[n1 * 8 + n2 + i12 * 8 + i13] = dma_out_buffer()[1 + i12 * 4 + i13];" in made
    assert made.count("return dma_free();") == 1


def test_names_of_c_and_of_ours_are_left_alone() -> None:
    text = DRIVERS["transfers in the accel dialect, C added"].text
    for name, symbol in (("n1", "n1"), ("index", "index_"), ("dma_init", "xdma_init"), ("driver", "driver_")):
        assert "%A" in text
        made = translate(text.replace("%A", f"%{name}"), "a.mlir")
        assert f"int32_t {symbol}[512];" in made
        loops = [line.split()[2] for line in made.splitlines() if line.strip().startswith("for (")]
        assert symbol not in loops
    name = text.partition("@")[2].partition("(")[0]
    odd = translate(text.replace(f"@{name}(", '@"x(void) {} int y"('), "a.mlir")
    assert odd == translate(text, "a.mlir")


def changed(was: str, by: str, name: str = "transfers in the accel dialect, C added") -> str:
    text = DRIVERS[name].text
    assert was in text
    with pytest.raises(CompileError) as caught:
        translate(text.replace(was, by), "a.mlir")
    return str(caught.value)


@pytest.mark.parametrize(
    ("was", "by", "why"),
    [
        ("arith.addi %a, %b", "arith.ori %a, %b", "arith.ori: only sums, differences and products are read"),
        ("[%c4, %c4] [1, 1] : memref<16x32", "[%m, %c4] [1, 1] : memref<16x32", "a size of a tile must be a"),
        (
            "[%c4, %c4] [1, 1] : memref<16x32",
            "[%c4, %c4] [1, 2] : memref<16x32",
            "with a stride that is not 1",
        ),
        ("memref<16x32xi32>", "memref<16x?xi32>", "a driver has arrays of known sizes, not memref<16x?xi32>"),
        (
            "#same = affine_map<(d0, d1) -> (d0, d1)>",
            "#same = affine_map<(d0, d1) -> (d1, d0)>",
            "element by element",
        ),
    ],
)
def test_what_no_driver_has_is_refused(was: str, by: str, why: str) -> None:
    said = changed(was, by)
    assert why in said
    assert said.startswith("a.mlir:")


def test_calls_with_other_arguments_are_refused() -> None:
    name = "calls of the DMA library, C stays"
    assert "incorrect number of operands" in changed(
        "@dma_start_recv(%w16, %w1) : (i32, i32)", "@dma_start_recv(%w16) : (i32)", name
    )
    assert "expected a number" in changed(
        "accel.sendLiteral %w1, %w0 : (i32, i32)", f"accel.sendLiteral %A, %w0 : ({ARRAY}, i32)"
    )
    assert "an array that is no argument" in changed(
        "accel.recv %own, %v6 : (memref<4x4xi32>, i32)", "accel.recv %w8, %v6 : (i32, i32)"
    )


def test_elements_are_words() -> None:
    said = changed("xi32", "xi64", "transfers in the accel dialect, C stays")
    assert "elements must be i32 or f32, not i64" in said


def test_what_is_no_program_is_refused() -> None:
    for name, why in (
        (
            "ops of the accel dialect, no program",
            "one function with transfers is a driver; here there are first, second",
        ),
        (
            "calls of a mock library, arrays made there",
            "a.mlir:7:3: func.call: @filled is none of the library's",
        ),
    ):
        with pytest.raises(CompileError, match=why):
            translate(DRIVERS[name].text, "a.mlir")
