"""Drivers in MLIR become C, transfer by transfer; what no driver has is refused at its place."""

from __future__ import annotations

import pytest
from benchmarks.published.lowered import drivers
from benchmarks.published.programs import programs

from axiloom.accelerators.axi4mlir.drivers.program import translate
from axiloom.base.errors import CompileError

DRIVERS = {**drivers(), **programs()}
ARRAY = "memref<16x32xi32>"


def lines(name: str) -> list[str]:
    return [line.strip() for line in translate(DRIVERS[name].text, "a.mlir").text.splitlines()]


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
        made = translate(text.replace("%A", f"%{name}"), "a.mlir").text
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


def test_what_is_no_driver_is_refused() -> None:
    with pytest.raises(CompileError, match=r"^a.mlir: a driver has a function with transfers; here is none$"):
        translate("func @f() {\n  return\n}\n", "a.mlir")
    name = "arrays filled, copied, sent and printed"
    said = changed("@print_memref_f32", "@shows", name)
    assert "func.call: @shows has no body here and is none of the library's dma_init, dma_free" in said


def test_functions_are_written_where_they_are_called() -> None:
    made = lines("B stays, opcodes in words, a main that fills and prints")
    assert {"float A[128];", "float B[256];", "float C[512];", "float T[512];"} <= set(made)
    assert "A[n1 * 8 + n2] = ((float)((int32_t)(n2)) + ((float)((int32_t)(n1)) * 10.0f));" in made
    assert "TRY(dma_start_send((uint32_t)(17), (uint32_t)(0)));" in made
    assert "static dma_status driver(void)" in made


def test_an_array_that_is_made_later_is_no_counter() -> None:
    text = DRIVERS["B stays, opcodes in words, a main that fills and prints"].text
    made = translate(text.replace("%C ", "%n2 ").replace("%C:", "%n2:"), "a.mlir").text
    assert "float n2_[512];" in made
    assert "for (int32_t n2 = 0;" in made


def test_functions_that_nobody_calls_run_in_their_order() -> None:
    name = "ops of the accel dialect, sent and received"
    made = translate(DRIVERS[name].text, "a.mlir")
    assert made.notes == ("a.mlir: starts, sends, sends_behind, receives run one after the other",)
    assert "float sends_A[48];\nfloat sends_behind_A[48];\nint32_t sends_behind_at;\n" in made.text
    alone = translate(DRIVERS[name].text, "a.mlir", "sends")
    assert (alone.notes, "float A[48];" in alone.text) == ((), True)
    assert "    TRY(begin(0, 0, 0, 0, 0));\n" in alone.text  # no function of the text that is left does it
    with pytest.raises(CompileError, match="no function `send` with transfers; did you mean `sends`"):
        translate(DRIVERS[name].text, "a.mlir", "send")


def test_a_dma_at_0_is_that_of_the_board() -> None:
    text = DRIVERS["a packet there and back, windows as pointers"].text
    made = translate(text, "a.mlir", board=(64, 4096, 512, 8192, 256)).text
    assert "return dma_init(64, 4096, 512, 8192, 256);" in made
    assert "TRY(begin((uint32_t)(0), (uint32_t)(0), (uint32_t)(1000), (uint32_t)(0)," in made


def test_a_transfer_that_nothing_waits_for_is_said_and_waited_for() -> None:
    made = translate(DRIVERS["tiles cut at the edge, nothing copied"].text, "a.mlir")
    (note,) = made.notes
    assert note.startswith("a.mlir: nothing waits for a receive (dma_wait_recv): here the next one does")
    assert "TRY(restart_recv((uint32_t)(16), (uint32_t)(0)));" in made.text
    assert "TRY(dma_start_send((uint32_t)(32), (uint32_t)(0)));" in made.text


def test_a_size_that_differs_from_iteration_to_iteration_is_refused() -> None:
    said = changed("(4, -d0 + 16)", "(4, -d0 + 14)", "tiles cut at the edge, nothing copied")
    assert "affine.min: a size must be the same in every iteration" in said


def test_a_copy_of_a_part_of_an_array_is_refused() -> None:
    said = changed("(%a, %words, %first)", "(%a, %both, %first)", "arrays filled, copied, sent and printed")
    assert "func.call: the array has 16 words; a copy of another number of them is not read" in said


def test_a_function_that_calls_itself_is_refused() -> None:
    said = changed(
        "  linalg.fill(%value, %made) : f32, memref<?x?xf32>\n",
        RECURSIVE,
        "arrays filled, copied, sent and printed",
    )
    assert "func.call: @filled calls itself" in said


RECURSIVE = "  %no = call @filled(%rows, %cols, %value) : (index, index, f32) -> (memref<?x?xf32>)\n"


def test_arrays_are_printed_by_a_process_alone() -> None:
    made = translate(DRIVERS["arrays filled, copied, sent and printed"].text, "a.mlir")
    assert made.prints == ("print_memref_f32",)
    assert 'SHOW("%g%c", (double)A[' in made.text
    assert "#define SHOW(...) ((void)0)" in made.text
