"""Functions of a text are found without reading them; what is left keeps its place."""

from __future__ import annotations

import pytest

from axiloom.base.errors import UsageError
from axiloom.drivergen.dialects.functions import alone, chosen, functions

TEXT = """#m = affine_map<(i, j) -> (i, j)>
func private @print(memref<*xi32>)
func @product(%A: memref<8x8xi32>, %C: memref<8x8xi32> {x.y = "}"}) -> (i32 {a.b}) attributes {llvm.c} {
  linalg.matmul {x = "M"} ins(%A, %A : a, a) outs(%C : a)
  return
} loc("a.py")
// func @nothing {
func @fill(%f: i32) { linalg.fill(%f, %b) : i32, memref<?xi32>
  return }
module { func.func private @declared()
func.func @"a b"() { scf.for { linalg.dot ins(%x : a) outs(%y : a) } } }
"""


def test_bodies_are_found() -> None:
    found = functions(TEXT)
    assert [(one.name, one.computes) for one in found] == [("product", True), ("fill", False), ("a b", True)]
    assert [TEXT[one.begin : one.end][-10:].strip() for one in found] == [
        'oc("a.py")',
        "return }",
        "y : a) } }",
    ]


def test_one_alone_keeps_its_place() -> None:
    text = alone(TEXT, "fill")
    assert [line for line in text.splitlines() if line.strip()] == [
        "#m = affine_map<(i, j) -> (i, j)>",
        "func private @print(memref<*xi32>)",
        "// func @nothing {",
        "func @fill(%f: i32) { linalg.fill(%f, %b) : i32, memref<?xi32>",
        "  return }",
        "module { func.func private @declared()",
        " " * TEXT.splitlines()[-1].rindex("}") + "}",
    ]
    assert len(text) == len(TEXT)
    assert text.index("func @fill") == TEXT.index("func @fill")


def test_which_are_meant() -> None:
    assert chosen(TEXT, "a.mlir", None) == ["product", "a b"]
    assert chosen(TEXT, "a.mlir", "fill") == ["fill"]
    assert chosen("func.func @f() { return }", "a.mlir", None) == []
    with pytest.raises(UsageError, match=r"no function `produkt`; did you mean `product`\?; it has product"):
        chosen(TEXT, "a.mlir", "produkt")
    with pytest.raises(UsageError, match="none of its functions has an op for an accelerator: f, g"):
        chosen("func.func @f() { return }\nfunc.func @g() { return }", "a.mlir", None)
