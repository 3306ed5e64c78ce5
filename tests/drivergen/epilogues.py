"""MLIR that the tests compile: a product on a fill of zeros, and the rounding of its sums to int8."""

from __future__ import annotations

from dataclasses import dataclass

BODY = """\
    %b = arith.addi %sum, %bias : i32
    %w = arith.extsi %b : i32 to i64
    %m = arith.extui %mult : i32 to i64
    %p = arith.muli %w, %m : i64
    %sh = arith.extui %shift : i32 to i64
    %one = arith.constant 1 : i64
    %power = arith.shli %one, %sh : i64
    %half = arith.shrui %power, %one : i64
    %r = arith.addi %p, %half : i64
    %q = arith.shrsi %r, %sh : i64
    %z = arith.addi %q, %zp : i64
    %l = arith.maxsi %z, %lo : i64
    %h = arith.minsi %l, %hi : i64
    %o = arith.trunci %h : i64 to i8
    linalg.yield %o : i8
"""


@dataclass(frozen=True)
class Rounded:
    """The program of a product on tensors that is zeroed, rounded with channels along dim `axis`."""

    product: str
    shape: tuple[int, ...]
    axis: int
    zp: int = 0
    lo: int = -128
    hi: int = 127
    body: str = BODY

    @property
    def text(self) -> str:
        """A function @f(%bias, %mult, %shift, ...) with the arguments of the product behind."""
        sums = f"tensor<{'x'.join(map(str, self.shape))}xi32>"
        result, vector = sums.replace("xi32>", "xi8>"), f"tensor<{self.shape[self.axis]}xi32>"
        loops = ", ".join(f"d{n}" for n in range(len(self.shape)))
        all_, one = f"affine_map<({loops}) -> ({loops})>", f"affine_map<({loops}) -> (d{self.axis})>"
        kinds = ", ".join('"parallel"' for _ in self.shape)
        rounded = f"""\
  %zp = arith.constant {self.zp} : i64
  %lo = arith.constant {self.lo} : i64
  %hi = arith.constant {self.hi} : i64
  %E8 = tensor.empty() : {result}
  %Y = linalg.generic {{indexing_maps = [{all_}, {one}, {one}, {one}, {all_}], iterator_types = [{kinds}]}}
      ins(%R, %B, %M, %S : {sums}, {vector}, {vector}, {vector}) outs(%E8 : {result}) {{
  ^bb0(%sum : i32, %bias : i32, %mult : i32, %shift : i32, %old : i8):
{self.body}  }} -> {result}
  func.return %Y : {result}
}}
"""
        text = self.product[: self.product.rindex("  func.return")]
        return (
            (text + rounded)
            .replace("(%", f"(%B : {vector}, %M : {vector}, %S : {vector}, %", 1)
            .replace(f") -> {sums} {{", f") -> {result} {{", 1)
        )
