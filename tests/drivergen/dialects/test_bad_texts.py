"""MLIR on which a parser, a verifier or a C compiler would fall: one line with its place."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import isa
from axiloom.base.errors import CompileError
from axiloom.drivergen import compile_cpu, compile_mlir, matmul_mlir, opt
from axiloom.drivergen.network import compile_network

MATMUL = matmul_mlir(4, 4, 4)
SECONDS = 20.0


class TooLongError(BaseException):
    """No Exception: nothing on the way may take it for a fault of the text."""


def within(seconds: float, work: Callable[[], object]) -> None:
    """`work`, which must have ended by then: a parser that hangs fails its test and not the whole run."""

    def stop(*_: object) -> None:
        raise TooLongError(f"no end after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)  # a regular expression keeps other threads out
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def refused(text: str) -> str:
    with pytest.raises(CompileError) as caught:
        within(SECONDS, lambda: compile_mlir(text, isa.builtin("v3_4")))
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 600
    return message.removeprefix("input.mlir:")


def function(*lines: str, args: str = "%A : memref<4x4xi32>") -> str:
    return "\n".join([f"func.func @f({args}) {{", *(f"  {line}" for line in lines), "  func.return", "}"])


LONG = "abc def " * 50
NINES = "9" * 5000
TENSOR = "tensor<4x4xi32>"
TEXTS = {
    f'func.func @f() attributes {{x = "{LONG}\n}} {{}}': "1:32: the string does not end on its line",
    f'func.func @"{LONG}': "1:12: the string does not end on its line",
    f'"{LONG}': "1:1: the string does not end on its line",
    'func.func @f() attributes {x = "a\\': r"1:34: unknown escape; accepted are \n, \t, \\, \" and two "
    "hexadecimal digits",
    "func.func @f() attributes {x = ² }": "1:32: Unexpected character: '\\xb2'",
    "func.func @f() \x07": "1:16: Unexpected character: '\\x07'",
    MATMUL.replace("4x4", f"4x{NINES}"): "1:33: an integer of 5000 digits; at most 80",
    function(f"%0 = arith.constant {NINES} : i32"): "2:23: an integer of 5000 digits; at most 80",
    function(f"%0 = arith.constant 0x{NINES} : i32"): "2:23: an integer of 5002 digits; at most 80",
    function("%0 = arith.constant 1.0e999 : f32"): "2:23: the number is larger than any float",
    MATMUL.replace("i32", f"i{NINES}"): "1:1: func.func: an integer of too many digits",
    MATMUL.replace("memref<4x4xi32>", "memref<4x1099511627776xi32>"): "1:1: func.func: "
    "memref<4x1099511627776xi32> is larger than the 4 GiB that 32-bit addresses reach",
    function("%0 = arith.addi %0, %0 : i32"): "2:3: arith.addi: operand 0 is its own result",
    function("%x = arith.addi %x, %x : i32"): "2:3: arith.addi: %x is its own result",
    function(
        f"%0 = linalg.matmul ins(%A, %A : {TENSOR}, {TENSOR}) outs(%0 : {TENSOR}) -> {TENSOR}",
        args=f"%A : {TENSOR}",
    ): "2:3: linalg.matmul: operand 2 is its own result",
    function("%y = arith.addi %x, %x : i32", "%x = arith.constant 1 : i32"): "2:3: arith.addi: %x is used "
    "before it is defined",
    function("%y = arith.addi %x, %x : i32"): "4:2: values used but not defined: [%x]",
    function(
        "%c = arith.constant 0 : index",
        "%y = arith.addi %x, %x : i32",
        "scf.for %i = %c to %c step %c {",
        "  %x = arith.constant 1 : i32",
        "}",
    ): "3:3: arith.addi: %x is not visible here",
    function("%0 = constantt 1 : i32"): "2:3: Operation constantt is not registered",
    f"func.func @f() attributes {{x = {'[' * 3000}{']' * 3000}}} {{}}": "1:1: func.func: too many things "
    "inside each other",
    function(
        'linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}',
        "    outs(%B : memref<4xi32>) {",
        "^bb0(%b : i32):",
        "  %t = tensor.empty() : tensor<4xi32>",
        "  linalg.yield %b : i32",
        "}",
        args="%B : memref<4xi32>",
    ): "5:5: tensor.empty: a body of linalg.generic computes scalars, not tensor<4xi32>",
    "module {" * 2000 + "}" * 2000: "1:513: more than 64 ops inside each other",
}


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_texts(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = refused(text)
    assert message.startswith(TEXTS[text])
    file = tmp_path / "x.mlir"
    file.write_text(text)
    within(SECONDS, lambda: codes.append(opt.main([str(file)])) if (codes := [0]) else None)
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"axiloom-opt: {file}:{message}\n")


# --- axiloom-opt ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "code", "says"),
    [
        (b"\xff", 4, "1:1: byte 0xff is not UTF-8"),
        (b"module {\n\0}", 4, "2:1: a NUL byte"),
    ],
)
def test_opt_on_what_is_no_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes, code: int, says: str
) -> None:
    file = tmp_path / "x.mlir"
    file.write_bytes(data)
    assert opt.main([str(file)]) == code
    err = capsys.readouterr().err
    assert err.startswith(f"axiloom-opt: {file}:{says}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code"), [(["absent.mlir"], 2), (["."], 2), (["-p", "accel-annotate{", "x.mlir"], 2)]
)
def test_opt_on_what_is_not_there(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int
) -> None:
    assert opt.main(arguments) == code
    assert re.fullmatch(r"axiloom-opt: [^\n]+\n", capsys.readouterr().err)


# --- the function's name ------------------------------------------------------------------------------

NAMES = {
    "dma_init": "`dma_init` is among the runtime's names (dma, dma_..., axl_..., TRY, ..._t, _...)",
    "dma": "`dma` is among the runtime's names (dma, dma_..., axl_..., TRY, ..._t, _...)",
    "axl_say": "`axl_say` is among the runtime's names (dma, dma_..., axl_..., TRY, ..._t, _...)",
    "_start": "`_start` is among the runtime's names (dma, dma_..., axl_..., TRY, ..._t, _...)",
    "uint8_t": "`uint8_t` is among the runtime's names (dma, dma_..., axl_..., TRY, ..._t, _...)",
    "int": "`int` is a word of C",
    "restrict": "`restrict` is a word of C",
    "bool": "`bool` is a word of C",
    "memcpy": "`memcpy` is a function of C's library",
    "sqrtf": "`sqrtf` is a function of C's library",
    "read": "`read` is a function of C's library",
    "status": "`status` is a variable of the program around it",
}


@pytest.mark.parametrize("name", NAMES)
def test_names_that_are_taken(name: str) -> None:
    text = MATMUL.replace("@matmul", f"@{name}")
    expected = (
        f"input.mlir:1:1: func.func: {NAMES[name]}: give @{name} another name, since C calls it by that"
    )
    for compile_ in (lambda: compile_mlir(text, isa.builtin("v3_4")), lambda: compile_cpu(text)):
        with pytest.raises(CompileError) as caught:
            compile_()
        assert str(caught.value) == expected
    network = f"func.func @{name}(%A : {TENSOR}) -> {TENSOR} {{\n  func.return %A : {TENSOR}\n}}"
    with pytest.raises(CompileError) as caught:
        compile_network(network, None)
    assert str(caught.value) == expected


def test_names_that_are_changed_are_told() -> None:
    """torch-mlir calls every function main, which is the program's; C has no blanks in names."""
    driver = compile_mlir(MATMUL.replace("@matmul", "@main"), isa.builtin("v3_4"))
    assert driver.function == "main_"
    assert " * @main of the MLIR is main_ here.\n" in driver.c
    driver = compile_mlir(MATMUL.replace("@matmul", '@"a b\\00"'), isa.builtin("v3_4"))
    assert driver.function == "a_b_"
    assert " * @a b\\x00 of the MLIR is a_b_ here.\n" in driver.header


# --- traits by hand ------------------------------------------------------------------------------------

V3 = isa.builtin("v3_4")
HAND = compile_mlir(MATMUL, V3, stop="linalg").stages["linalg"]


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ({"flow": "As"}, "--flow"),
        ({"flow": "Cs"}, "--flow"),
        ({"order": ("m", "n", "k"), "tile": (4, 4, 4)}, "--order, --tile"),
    ],
)
def test_options_do_not_change_a_trait(options: dict[str, object], given: str) -> None:
    with pytest.raises(CompileError) as caught:
        compile_mlir(HAND, V3, **options)  # type: ignore[arg-type]
    says = f"its own trait says how it is executed: leave {given} out, or the trait"
    assert str(caught.value).endswith(f"linalg.matmul: {says}")
    assert compile_mlir(HAND, V3).c == compile_mlir(HAND, None).c.replace(*_banners())


def _banners() -> tuple[str, str]:
    return _second_line(compile_mlir(HAND, None).c), _second_line(compile_mlir(HAND, V3).c)


def _second_line(c: str) -> str:
    """The banner, which names the specification where there is one."""
    return c[: c.index("*/")]


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("accel_accel_tile_size", ""),  # without opcodes and flow nobody reads the published names
        ("accel_loop_permutation", ""),
        ("opcode_flows", "; did you mean `opcode_flow`?"),
        ("permutation_maps", "; did you mean `permutation_map`?"),
        ("dma_init_conf", "; did you mean `dma_init_config`?"),
    ],
)
def test_attributes_that_nobody_reads(name: str, close: str) -> None:
    text = MATMUL.replace("linalg.matmul ", f"linalg.matmul {{{name} = 1 : i64}} ")
    with pytest.raises(CompileError) as caught:
        compile_mlir(text, V3)
    message = str(caught.value)
    assert message.startswith("input.mlir:2:3: linalg.matmul: unknown attribute `" + name + "`")
    assert close in message
    assert message.endswith("accel_saves, accel_images, accel_overwrites, accel_registers")
    op = f"linalg.matmul {{{name}}} ins(%A, %A : {TENSOR}, {TENSOR}) outs(%A : {TENSOR}) -> {TENSOR}"
    network = f"func.func @f(%A : {TENSOR}) -> {TENSOR} {{\n  %0 = {op}\n  func.return %0 : {TENSOR}\n}}"
    with pytest.raises(CompileError, match=f"2:3: linalg.matmul: unknown attribute `{name}`"):
        compile_network(network, None)


OWN = "v3_4 has no opcode"
MISFITS = {
    ("send_literal(1), send(A)", "send_literal(64), send(A)"): "v3_4 has no opcode sA = [send_literal(64), "
    "send(A)]; it has sA = [send_literal(1), send(A)], sB = [send_literal(2), send(B)], ",
    ("send_literal(1), send(A)", "send_literal(1), send(A), send(A)"): OWN,
    ("sA = [send_literal(1), send(A)]", "sA = [send_literal(3), send(A), send(B)]"): OWN,
    ("A(m, k)", "A(k, m)"): "accel_operands sends A(k, m); v3_4 takes (m, k)",
    ("(4, 4, 4)", "(8, 8, 8)"): "accel_dim: v3_4 takes only tiles of 4x4x4, not 8x8x8",
    (
        "accel_dims =",
        "stream_width = 64 : i64, accel_dims =",
    ): "stream_width is 64; v3_4 has streams of 32 bits",
    ("address = 0x40400000", "address = 0x40410000"): "dma_init_config has address 0x40410000; v3_4 has "
    "0x40400000",
    ("length_width = 26", "length_width = 26, scatter_gather = 1"): "dma_init_config is for scatter-gather; "
    "the DMA of v3_4 is the other",
}


@pytest.mark.parametrize("edit", MISFITS)
def test_traits_that_the_accelerator_does_not_execute(edit: tuple[str, str]) -> None:
    """They would compile, and hang in the simulation."""
    assert edit[0] in HAND
    with pytest.raises(CompileError) as caught:
        compile_mlir(HAND.replace(*edit), V3)
    assert MISFITS[edit] in str(caught.value)


def test_a_trait_with_other_names_and_spare_opcodes_fits() -> None:
    text = HAND.replace("sA", "loadA").replace("send(A)", "send(0)")
    text = text.replace("opcode_map<", "opcode_map<spare = [send_literal(77)], ")
    assert compile_mlir(text, V3).stages["accel"].count("loadA") > 0


def test_a_trait_for_a_wider_length_register() -> None:
    narrow = isa.revise(V3, dma=replace(V3.link.dma, length_width=20))
    with pytest.raises(CompileError, match="dma_init_config has length_width 26; v3_4 has 20"):
        compile_mlir(HAND, narrow)


def test_a_trait_without_the_opcodes_that_come_first(tmp_path: Path) -> None:
    document = json.loads(isa.dumps(V3))
    body = document["accelerators"][0]
    body["opcode_map"] = body["opcode_map"].replace("<", "<reset = [send_literal(64)], ", 1)
    body["device"]["reset"] = []
    body["init_opcodes"] = "opcode_flow<(reset)>"
    (tmp_path / "reset.json").write_text(json.dumps(document))
    spec = isa.load(tmp_path / "reset.json")
    assert compile_mlir(compile_mlir(MATMUL, spec, stop="linalg").stages["linalg"], spec).c
    lacks = r"init_opcodes lacks reset = \[send_literal\(64\)\], which v3_4 is sent first"
    with pytest.raises(CompileError, match=lacks):
        compile_mlir(HAND, spec)


def test_a_trait_where_there_is_only_copying() -> None:
    text = "func.func @f(%A : memref<4xi32>, %B : memref<4xi32>) {\n"
    text += "  linalg.copy {accel_dim = 1 : i64} ins(%A : memref<4xi32>) outs(%B : memref<4xi32>)\n"
    text += "  func.return\n}"
    with pytest.raises(CompileError, match="a trait is for a product; loopback copies"):
        compile_mlir(text, isa.builtin("loopback"))


def test_what_the_compiler_makes_is_no_input() -> None:
    text = compile_mlir(MATMUL, V3, stop="accel").stages["accel"]
    with pytest.raises(
        CompileError, match="it is made by the compiler, at a later stage; the input is linalg"
    ):
        compile_mlir(text, V3)
