"""What the compiler refuses, each with one line that says what, where, why, and what is accepted."""

from __future__ import annotations

import re

import pytest
from tests.drivergen.programs import Generic

from axiloom import isa
from axiloom.base.errors import AxiloomError, CompileError, UsageError
from axiloom.drivergen import compile_cpu, compile_mlir, matmul_mlir, parse_problem, reference


def refused(text: str, error: type[AxiloomError], accelerator: str = "v3_4", **options: object) -> str:
    with pytest.raises(error) as caught:
        compile_mlir(text, isa.builtin(accelerator), **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    return message


def body(*lines: str, args: str = "%A : memref<4x4xi32>, %B : memref<4x4xi32>, %C : memref<4x4xi32>") -> str:
    return "\n".join([f"func.func @f({args}) {{", *(f"  {line}" for line in lines), "  func.return", "}"])


MATMUL = "linalg.matmul ins(%A, %B : memref<{a}>, memref<{b}>) outs(%C : memref<{c}>)"


def typed(a: str, b: str, c: str) -> str:
    args = f"%A : memref<{a}>, %B : memref<{b}>, %C : memref<{c}>"
    return body(MATMUL.format(a=a, b=b, c=c), args=args)


SYNTAX = {
    "func.func @f(": "input.mlir:1:14: Expected argument or type",
    "func.func @f() {\n  foo.bar\n}": "input.mlir:2:3: Operation foo.bar is not registered",
    body(
        "linalg.batch_reduce_matmul"
    ): "input.mlir:2:3: Operation linalg.batch_reduce_matmul is not registered",
    "builtin.module {}": "input.mlir: exactly one func.func with a body is expected, found none",
    body()
    + body().replace("@f", "@g"): "input.mlir: exactly one func.func with a body is expected, found f, g",
    typed(
        "4x3xi32", "4x4xi32", "4x4xi32"
    ): "input.mlir:2:3: linalg.matmul: does not verify: inferred input/output "
    "operand #1 has shape's dimension #0 to be 3, but found 4",
}


@pytest.mark.parametrize("text", SYNTAX)
def test_syntax(text: str) -> None:
    assert refused(text, CompileError) == SYNTAX[text]


OPS = {
    typed(
        "?x4xi32", "4x4xi32", "4x4xi32"
    ): "linalg.matmul: operand 0 has a dynamic size (memref<?x4xi32>); sizes must be known",
    typed("0x4xi32", "4x4xi32", "0x4xi32"): "linalg.matmul: operand 0 has no elements (memref<0x4xi32>)",
    typed(
        "4x4xf32", "4x4xf32", "4x4xf32"
    ): "linalg.matmul: operand A has elements of float32; v3_4 takes int32",
    typed(
        "4x4xi64", "4x4xi64", "4x4xi64"
    ): "linalg.matmul: v3_4 cannot execute it: elements of i64 are not supported; "
    "accepted are i8, i16, i32 and f32",
    typed(
        "4x4xi8", "4x4xi8", "4x4xi8"
    ): "linalg.matmul: its output has elements of int8; accumulation is in int32 or float32",
    typed("4x4xi8", "4x4xi8", "4x4xi32"): "linalg.matmul: operand A has elements of int8; v3_4 takes int32",
    body(
        "linalg.add ins(%A, %B : memref<4x4xi32>, memref<4x4xi32>) outs(%C : memref<4x4xi32>)"
    ): "linalg.add: v3_4 cannot execute it: its body does not add to the output",
    body(
        "linalg.copy ins(%A : memref<4x4xi32>) outs(%C : memref<4x4xi32>)"
    ): "linalg.copy: v3_4 cannot execute it: it has 2 operands, a matmul has 3",
}


@pytest.mark.parametrize("text", OPS)
def test_op_nobody_can_offload(text: str) -> None:
    assert refused(text, CompileError) == f"input.mlir:2:3: {OPS[text]}"


GENERIC = Generic(4, 4, 4).text
EDITS = {
    (
        "arith.muli %x, %y",
        "arith.muli %x, %x",
    ): "its body does not add the product (arith.muli) of the two inputs",
    (
        "arith.muli %x, %y",
        "arith.subi %x, %y",
    ): "its body does not add the product (arith.muli) of the two inputs",
    ("arith.addi %r, %c", "arith.addi %r, %r"): "its body does not add to the output",
    (
        "arith.addi %r, %c",
        "arith.subi %c, %r",
    ): "its body does not yield a sum (arith.addi, arith.addf) of output and product",
    ("(k, n)>", "(n, n)>"): "its indexing maps are not those of C[m, n] += A[m, k] B[k, n]",
    (
        '["parallel", "parallel"',
        '["reduction", "parallel"',
    ): "its loop over m is reduction, a matmul's is parallel",
    ('"reduction"]', '"parallel"]'): "its loop over k is parallel, a matmul's is reduction",
}


@pytest.mark.parametrize("edit", EDITS)
def test_generic_that_is_no_matmul(edit: tuple[str, str]) -> None:
    assert edit[0] in GENERIC
    message = refused(GENERIC.replace(*edit), CompileError)
    assert message == f"input.mlir:2:3: linalg.generic: v3_4 cannot execute it: {EDITS[edit]}"


def test_index_that_is_no_plain_loop() -> None:
    text = (
        GENERIC.replace("(m, k)>", "(m + 0, k + m)>")
        .replace("%A : memref<4x4", "%A : memref<4x8")
        .replace("ins(%A, %B : memref<4x4", "ins(%A, %B : memref<4x8")
    )
    assert refused(text, CompileError) == (
        "input.mlir:2:3: linalg.generic: v3_4 cannot execute it: operand 0 is not indexed by plain loops "
        "((d0, d1, d2) -> (d0, (d2 + d0)))"
    )


def test_function_without_an_op() -> None:
    assert refused(body(), CompileError) == "input.mlir:1:1: func.func: it has no operation to offload"


def test_op_around_the_matmul() -> None:
    op = '%0 = "tensor.extract"(%T, %i, %i) : (tensor<4x4xi32>, index, index) -> i32'
    text = body(op, args="%T : tensor<4x4xi32>, %i : index")
    assert refused(text, CompileError) == (
        "input.mlir:2:3: tensor.extract: no way to offload it or to give its tensors memory"
    )


ALIASED = typed("4x4xi32", "4x4xi32", "4x4xi32").replace("%A, %B :", "%A, %C :")
RETURNS_MEMREF = "func.func @f(%A : memref<4xi32>) -> memref<4xi32> {\n  func.return %A : memref<4xi32>\n}"
LOOP = """\
%c1 = arith.constant 1 : index
  scf.for %i = %c1 to %c1 step %c1 {
    %D = linalg.add ins(%T, %T : tensor<4xi32>, tensor<4xi32>) outs(%T : tensor<4xi32>) -> tensor<4xi32>
  }"""
IN_LOOP, SCALAR, UNRANKED = (
    body(LOOP, args="%T : tensor<4xi32>"),
    body(args="%n : index"),
    body(args="%T : tensor<*xi32>"),
)
FUNCTIONS = {
    ALIASED: "2:3: linalg.matmul: its output is also one of its inputs",
    RETURNS_MEMREF: "1:1: func.func: it returns memref<4xi32>; functions may return only ranked tensors",
    SCALAR: "1:1: func.func: argument 0 is index, not a ranked tensor or memref",
    UNRANKED: "1:1: func.func: argument 0 is tensor<*xi32>, not a ranked tensor or memref",
    IN_LOOP: "3:3: scf.for: no way to offload it or to give its tensors memory",
}


@pytest.mark.parametrize("text", FUNCTIONS)
def test_function_that_is_no_driver(text: str) -> None:
    assert refused(text, CompileError) == f"input.mlir:{FUNCTIONS[text]}"


def test_layout() -> None:
    text = typed("4x4xi32", "4x4xi32", "4x4xi32").replace("xi32>", "xi32, strided<[8, 1]>>")
    assert refused(text, CompileError) == (
        "input.mlir:1:1: func.func: argument 0 is not contiguous and row major "
        "(memref<4x4xi32, strided<[8, 1]>>)"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"flow": "cs"}, "unknown flow `cs`; did you mean `Cs`?; v3_4 has Ns, As, Bs, Cs"),
        ({"flow": "xyz"}, "unknown flow `xyz`; v3_4 has Ns, As, Bs, Cs"),
        (
            {"flow": "Cs", "order": ("k", "m", "n")},
            "flow Cs of v3_4 computes a wrong result in the order k,m,n; it takes m,n,k or n,m,k",
        ),
        ({"stop": "asm"}, "unknown stage `asm`; there are linalg, accel, calls, c"),
    ],
)
def test_usage(options: dict[str, object], message: str) -> None:
    assert refused(matmul_mlir(4, 4, 4), UsageError, **options) == message


@pytest.mark.parametrize(
    ("accelerator", "tile", "message"),
    [
        ("v3_4", (8, 8, 8), "tile: v3_4 takes only tiles of 4x4x4, not 8x8x8"),
        ("v4_16", (16, 16), "tile: 16x16 has 2 sizes; the dims are m, n, k"),
        ("v4_16", (16, 16, 0), "tile: 16x16x0 has a size below 1"),
    ],
)
def test_tile(accelerator: str, tile: tuple[int, ...], message: str) -> None:
    assert refused(matmul_mlir(4, 4, 4), CompileError, accelerator, tile=tile) == message


def test_tile_off_the_granule_or_too_large() -> None:
    message = refused(matmul_mlir(4, 4, 4), CompileError, "v4_16", tile=(16, 16, 20))
    assert re.search(r"\bk\b.*\b20\b|\b20\b.*\bk\b", message)
    message = refused(matmul_mlir(4, 4, 4), CompileError, "v4_16", tile=(128, 64, 16))
    assert "8192 words" in message


def test_cpu_and_reference_refuse_too() -> None:
    text = typed("4x4xf16", "4x4xf16", "4x4xf16")
    accepted = "accepted are i1, i8, i16, i32, i64, f32 and f64"
    expected = f"input.mlir:1:1: func.func: argument 0 has elements of f16; {accepted}"
    with pytest.raises(CompileError) as caught:
        compile_cpu(text)
    assert str(caught.value) == expected
    with pytest.raises(CompileError) as caught:
        reference(text, {})
    assert str(caught.value) == expected


ACCEPTED = (
    "matmul:MxNxK or matmul:MxNxK:TYPE, with TYPE int8, int16, int32, uint8, float32 or fixed<BITS,FRACTION>"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("matmul", f"problem `matmul` is not understood; accepted are {ACCEPTED}, or a file *.mlir"),
        ("conv:1x1x1", f"problem `conv:1x1x1` is not understood; accepted are {ACCEPTED}, or a file *.mlir"),
        ("matmul:0x1x1", "problem `matmul:0x1x1`: sizes must be from 1 to 65536"),
        (
            "matmul:1x1x1:int7",
            f"problem `matmul:1x1x1:int7`: unknown type `int7`; did you mean `int8`?; it may be {ACCEPTED}",
        ),
    ],
)
def test_problem(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_problem(text)
    assert str(caught.value) == message
