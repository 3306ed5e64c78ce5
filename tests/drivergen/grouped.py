"""MLIR that the tests compile: convolutions in groups, and of channels one by one."""

from __future__ import annotations

from dataclasses import dataclass

from axiloom.isa import numerics

FORMS = {
    "depthwise_conv_2d_nchw_chw": "nchw cyx nchw",
    "depthwise_conv_2d_nhwc_hwc": "nhwc yxc nhwc",
    "depthwise_conv_2d_nhwc_hwcm": "nhwc yxcm nhwcm",
    "conv_2d_ngchw_fgchw": "ngchw fgcyx ngfhw",
    "conv_2d_ngchw_gfchw": "ngchw gfcyx ngfhw",
    "conv_2d_nhwgc_gfhwc": "nhwgc gfyxc nhwgf",
}
"""Dims of image, filter and result: groups (g), channels in (c) and out (f), taps (y, x), multiplier (m)."""


@dataclass(frozen=True)
class Grouped:
    """O = I * F on tensors, with `pad` rows and columns of zeros on all sides of the image."""

    op: str
    batch: int = 1
    groups: int = 3
    c: int = 2
    f: int = 4
    image: tuple[int, int] = (6, 9)
    taps: tuple[int, int] = (3, 3)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    pad: int = 0
    dtype: str = "int32"

    def _type(self, dims: str, element: str, *, image: tuple[int, int]) -> str:
        sizes = {"n": self.batch, "g": self.groups, "c": self.c, "f": self.f, "m": 2}
        sizes |= dict(zip("hwyx", (*image, *self.taps), strict=True))
        return f"tensor<{'x'.join(str(sizes[d]) for d in dims)}x{element}>"

    @property
    def text(self) -> str:
        """A function @conv(%I, %F) -> O."""
        element = numerics.of(self.dtype).mlir
        image, filters, output = FORMS[self.op].split()
        padded = tuple(size + 2 * self.pad for size in self.image)
        steps = zip(padded, self.taps, self.stride, self.dilation, strict=True)
        rows, columns = ((size - (taps - 1) * d - 1) // s + 1 for size, taps, s, d in steps)
        given = self._type(image, element, image=self.image)
        read = self._type(image, element, image=(padded[0], padded[1]))
        result = self._type(output, "i32", image=(rows, columns))
        weights = self._type(filters, element, image=self.image)
        source, lines = "%I", []
        if self.pad:
            source = "%P"
            added = ", ".join(str(self.pad if d in "hw" else 0) for d in image)
            counters = ", ".join(f"%i{number} : index" for number in range(len(image)))
            lines = [
                f"  %none = arith.constant 0 : {element}",
                f"  %P = tensor.pad %I low[{added}] high[{added}] {{",
                f"  ^bb0({counters}):",
                f"    tensor.yield %none : {element}",
                f"  }} : {given} to {read}",
            ]
        settings = (
            f"dilations = dense<{list(self.dilation)}> : vector<2xi64>, "
            f"strides = dense<{list(self.stride)}> : vector<2xi64>"
        )
        return "\n".join(
            [
                f"func.func @conv(%I : {given}, %F : {weights}) -> {result} {{",
                "  %zero = arith.constant 0 : i32",
                f"  %E = tensor.empty() : {result}",
                f"  %Z = linalg.fill ins(%zero : i32) outs(%E : {result}) -> {result}",
                *lines,
                f"  %R = linalg.{self.op} {{{settings}}}",
                f"      ins({source}, %F : {read}, {weights}) outs(%Z : {result}) -> {result}",
                f"  func.return %R : {result}",
                "}",
                "",
            ]
        )
