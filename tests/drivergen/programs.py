"""MLIR that the tests compile: one matmul in all the ways in which people write it."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from axiloom.isa import numerics
from axiloom.isa.numerics import SIGNED


@dataclass(frozen=True)
class Generic:
    """A `linalg.generic` that is a matmul; every field is a freedom that must not matter."""

    M: int
    N: int
    K: int
    dtype: str = "int32"
    loops: tuple[str, ...] = ("m", "n", "k")
    A: tuple[str, str] = ("m", "k")
    B: tuple[str, str] = ("k", "n")
    swapped: bool = False
    """B is the first input."""
    commuted: bool = False
    """c + b * a instead of a * b + c."""
    tensors: bool = False
    zeroed: bool = False
    """C is filled with zeros first."""

    def _type(self, dims: tuple[str, ...], element: str) -> str:
        sizes = {"m": self.M, "n": self.N, "k": self.K}
        shape = "x".join(str(sizes[d]) for d in dims)
        return f"{'tensor' if self.tensors else 'memref'}<{shape}x{element}>"

    @property
    def text(self) -> str:
        """A function @f(%X, %Y, %C)."""
        element = f"i{numerics.of(self.dtype).bits}"
        inputs = [("A", self.A), ("B", self.B)][:: -1 if self.swapped else 1]
        (x, x_dims), (y, y_dims) = inputs
        xt, yt, ct = self._type(x_dims, element), self._type(y_dims, element), self._type(("m", "n"), "i32")
        maps = ", ".join(
            f"affine_map<({', '.join(self.loops)}) -> ({', '.join(dims)})>" for dims in (x_dims, y_dims, "mn")
        )
        kinds = ", ".join('"reduction"' if d == "k" else '"parallel"' for d in self.loops)
        wide = "" if element == "i32" else f"arith.extsi %x : {element} to i32"
        a, b = ("%x", "%y") if element == "i32" else ("%p", "%q")
        extend = f"    %p = {wide}\n    %q = {wide.replace('%x', '%y')}\n" if wide else ""
        product = f"arith.muli {b}, {a}" if self.commuted else f"arith.muli {a}, {b}"
        total = "arith.addi %c, %r" if self.commuted else "arith.addi %r, %c"
        result, arrow, back = ("%out = ", f" -> {ct}", f" %out : {ct}") if self.tensors else ("", "", "")
        fill = init = ""
        if self.zeroed:
            init = "%zeroed" if self.tensors else "%C"
            to = "%zeroed = " if self.tensors else ""
            fill = (
                f"  %zero = arith.constant 0 : i32\n"
                f"  {to}linalg.fill ins(%zero : i32) outs(%C : {ct}){arrow}\n"
            )
        return (
            f"func.func @f(%{x} : {xt}, %{y} : {yt}, %C : {ct}){arrow} {{\n{fill}"
            f"  {result}linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}\n"
            f"      ins(%{x}, %{y} : {xt}, {yt}) outs({init or '%C'} : {ct}) {{\n"
            f"  ^bb0(%x : {element}, %y : {element}, %c : i32):\n{extend}"
            f"    %r = {product} : i32\n    %s = {total} : i32\n    linalg.yield %s : i32\n  }}{arrow}\n"
            f"  func.return{back}\n}}\n"
        )


SIZES = st.integers(1, 11)

generics = st.builds(
    Generic,
    SIZES,
    SIZES,
    SIZES,
    st.sampled_from([kind.name for kind in SIGNED]),
    st.permutations(["m", "n", "k"]).map(tuple),
    st.sampled_from([("m", "k"), ("k", "m")]),
    st.sampled_from([("k", "n"), ("n", "k")]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
