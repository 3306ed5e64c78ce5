"""MLIR that the tests compile: one convolution in the ways in which people write it."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from axiloom.isa import numerics
from axiloom.isa.numerics import SIGNED

LAYOUTS = {"nchw": ("b c h w", "o c y x", "b o h w"), "nhwc": ("b h w c", "y x c o", "b h w o")}
"""Dims of image, filter and result: batch, channels in (c) and out (o), rows, columns, taps (y, x)."""
NAMED = {"nchw": "conv_2d_nchw_fchw", "nhwc": "conv_2d_nhwc_hwcf"}


@dataclass(frozen=True)
class Conv:
    """O = I * F on tensors; `pad` rows and columns of zeros: top, left, bottom, right."""

    batch: int = 1
    ic: int = 4
    oc: int = 6
    image: tuple[int, int] = (10, 10)
    taps: tuple[int, int] = (3, 3)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    pad: tuple[int, int, int, int] = (0, 0, 0, 0)
    dtype: str = "int32"
    layout: str = "nchw"
    zeroed: bool = True
    generic: bool = False
    """As a linalg.generic, its loops in another order and the filter first."""

    @property
    def output(self) -> tuple[int, int]:
        top, left, bottom, right = self.pad
        sizes = (self.image[0] + top + bottom, self.image[1] + left + right)
        height, width = (
            (size - (taps - 1) * dilation - 1) // stride + 1
            for size, taps, stride, dilation in zip(sizes, self.taps, self.stride, self.dilation, strict=True)
        )
        return height, width

    def _type(self, operand: int, element: str, *, padded: bool = False) -> str:
        top, left, bottom, right = self.pad if padded else (0, 0, 0, 0)
        image = (self.image[0] + top + bottom, self.image[1] + left + right)
        rows, columns = self.output if operand == 2 else image
        sizes = {"b": self.batch, "c": self.ic, "o": self.oc, "h": rows, "w": columns}
        sizes |= {"y": self.taps[0], "x": self.taps[1]}
        return f"tensor<{'x'.join(str(sizes[d]) for d in LAYOUTS[self.layout][operand].split())}x{element}>"

    @property
    def text(self) -> str:
        """A function @f(%I, %F[, %O]) -> O."""
        element = f"i{numerics.of(self.dtype).bits}"
        image, filters, result = (self._type(n, e) for n, e in enumerate((element, element, "i32")))
        lines, source, kind = [], "%I", image
        if any(self.pad):
            source, kind = "%P", self._type(0, element, padded=True)
            dims = LAYOUTS[self.layout][0].split()
            top, left, bottom, right = self.pad
            low = ", ".join(str({"h": top, "w": left}.get(d, 0)) for d in dims)
            high = ", ".join(str({"h": bottom, "w": right}.get(d, 0)) for d in dims)
            lines += [
                f"  %pad = arith.constant 0 : {element}",
                f"  %P = tensor.pad %I low[{low}] high[{high}] {{",
                "  ^bb0(%i0 : index, %i1 : index, %i2 : index, %i3 : index):",
                f"    tensor.yield %pad : {element}",
                f"  }} : {image} to {kind}",
            ]
        outs, third = "%O", f", %O : {result}"
        if self.zeroed:
            outs, third = "%Z", ""
            lines += [
                "  %zero = arith.constant 0 : i32",
                f"  %E = tensor.empty() : {result}",
                f"  %Z = linalg.fill ins(%zero : i32) outs(%E : {result}) -> {result}",
            ]
        lines += (
            self._generic(source, kind, filters, outs, result)
            if self.generic
            else [
                f"  %R = linalg.{NAMED[self.layout]} {{",
                f"      dilations = dense<{list(self.dilation)}> : vector<2xi64>, "
                f"strides = dense<{list(self.stride)}> : vector<2xi64>}}",
                f"      ins({source}, %F : {kind}, {filters}) outs({outs} : {result}) -> {result}",
            ]
        )
        body = "\n".join(lines)
        return (
            f"func.func @conv(%I : {image}, %F : {filters}{third}) -> {result} {{\n{body}\n"
            f"  func.return %R : {result}\n}}\n"
        )

    def _generic(self, source: str, kind: str, filters: str, outs: str, result: str) -> list[str]:
        element = f"i{numerics.of(self.dtype).bits}"
        (sh, sw), (dh, dw) = self.stride, self.dilation
        index = {"h": f"h * {sh} + y * {dh}", "w": f"w * {sw} + x * {dw}"}
        loops = "x, o, c, h, b, w, y"
        image, taps, output = (dims.split() for dims in LAYOUTS[self.layout])
        walked = ", ".join(index.get(d, d) for d in image)
        maps = [
            f"affine_map<({loops}) -> ({', '.join(taps)})>",
            f"affine_map<({loops}) -> ({walked})>",
            f"affine_map<({loops}) -> ({', '.join(output)})>",
        ]
        kinds = ", ".join('"reduction"' if d in "cyx" else '"parallel"' for d in loops.split(", "))
        wide = [] if element == "i32" else [f"    %{v}w = arith.extsi %{v} : {element} to i32" for v in "fi"]
        f, i = ("%f", "%i") if element == "i32" else ("%fw", "%iw")
        return [
            f"  %R = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}",
            f"      ins(%F, {source} : {filters}, {kind}) outs({outs} : {result}) {{",
            f"  ^bb0(%f : {element}, %i : {element}, %o : i32):",
            *wide,
            f"    %p = arith.muli {f}, {i} : i32",
            "    %s = arith.addi %o, %p : i32",
            "    linalg.yield %s : i32",
            f"  }} -> {result}",
        ]


def _fits(conv: Conv) -> bool:
    return min(conv.output) > 0


_PAIR = st.tuples(st.integers(1, 3), st.integers(1, 3))
convs = st.builds(
    Conv,
    st.integers(1, 2),
    st.integers(1, 5),
    st.integers(1, 9),
    st.tuples(st.integers(1, 11), st.integers(1, 11)),
    _PAIR,
    _PAIR,
    _PAIR,
    st.one_of(st.just((0, 0, 0, 0)), st.tuples(*(st.integers(0, 3) for _ in range(4)))),
    st.sampled_from([kind.name for kind in SIGNED]),
    st.sampled_from(list(LAYOUTS)),
    st.booleans(),
    st.booleans(),
).filter(_fits)
