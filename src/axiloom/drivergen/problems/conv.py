"""Convolutions that the command line names: ``conv:58_64_3_64_1``, ``conv:56x56,64,3x3,64,pad=1:int8``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from axiloom.base.errors import UsageError
from axiloom.base.wording.names import number, shortened
from axiloom.drivergen.problems.words import Pair, pairs, split_type
from axiloom.isa import numerics
from axiloom.isa.numerics import FLOAT32

CONV_FORM = (
    "conv:iHW_iC_fHW_oC_stride[:TYPE] (iHW with its padding) or "
    "conv:IHxIW,iC,FHxFW,oC[,stride=N][,pad=N][,dilation=N][,groups=G][:TYPE], N or ROWSxCOLS"
)
LIMIT = 1 << 13
"""Largest rows, columns or channels: more does not fit the memory of any board here."""
OPTIONS: Mapping[str, Pair] = {"stride": (1, 1), "pad": (0, 0), "dilation": (1, 1)}


@dataclass(frozen=True)
class ConvProblem:
    """O[oc, oh, ow] = sum of F[oc, ic, fh, fw] I[ic, oh * stride + fh * dilation - pad, ...], batch 1.

    Pairs are rows and columns. Image and filter are of `dtype`, the result of its accumulator. In `groups`,
    each of as many parts of the output channels sees its own part of the input channels.
    """

    image: tuple[int, int]
    ic: int
    taps: tuple[int, int]
    oc: int
    stride: tuple[int, int] = (1, 1)
    pad: tuple[int, int] = (0, 0)
    dilation: tuple[int, int] = (1, 1)
    dtype: str = numerics.INT32.name
    groups: int = 1

    @property
    def output(self) -> tuple[int, int]:
        """Rows and columns of the result."""
        rows, columns = (
            (size + 2 * pad - (taps - 1) * dilation - 1) // stride + 1
            for size, pad, taps, dilation, stride in zip(
                self.image, self.pad, self.taps, self.dilation, self.stride, strict=True
            )
        )
        return rows, columns

    @property
    def multiply_adds(self) -> int:
        rows, columns = self.output
        return self.oc * rows * columns * self.ic // self.groups * self.taps[0] * self.taps[1]

    @property
    def sizes(self) -> Mapping[str, int]:
        """All of them by name, as the baselines in C have them."""
        names = ("IH", "IW"), ("FH", "FW"), ("SH", "SW"), ("PT", "PL"), ("DH", "DW"), ("OH", "OW")
        values = (self.image, self.taps, self.stride, self.pad, self.dilation, self.output)
        pairs = {
            n: v for both, value in zip(names, values, strict=True) for n, v in zip(both, value, strict=True)
        }
        return {"IC": self.ic, "OC": self.oc, **pairs}

    @property
    def mlir(self) -> str:
        return conv_mlir(self)

    def check(self, text: str) -> None:
        """Raises UsageError where `text`, which named it, asks for what there is not."""
        named = shortened(text)
        sizes = (*self.image, self.ic, *self.taps, self.oc)
        if not all(0 < size <= LIMIT for size in (*sizes, *self.stride, *self.dilation)):
            raise UsageError(f"problem `{named}`: sizes, strides and dilations must be from 1 to {LIMIT}")
        if max(self.pad) > LIMIT:
            raise UsageError(f"problem `{named}`: padding must be from 0 to {LIMIT}")
        if min(self.output) < 1:
            raise UsageError(f"problem `{named}`: the filter is larger than the image")
        if self.groups < 1 or self.ic % self.groups or self.oc % self.groups:
            channels = f"{self.ic} channels in and {self.oc} out"
            raise UsageError(f"problem `{named}`: {self.groups} groups do not divide {channels}")


def parse_conv(text: str) -> ConvProblem:
    """The problem that `text` names; UsageError says what is accepted."""
    body, dtype = split_type(text, CONV_FORM)
    if match := re.fullmatch(r"(\d+)_(\d+)_(\d+)_(\d+)_(\d+)", body, re.ASCII):
        side, ic, taps, oc, stride = map(number, match.groups())
        problem = ConvProblem((side, side), ic, (taps, taps), oc, (stride, stride), dtype=dtype)
    else:
        problem = _in_words(text, body, dtype)
    problem.check(text)
    return problem


def _in_words(text: str, body: str, dtype: str) -> ConvProblem:
    named = shortened(text)
    match = re.fullmatch(r"(\d+)x(\d+),(\d+),(\d+)x(\d+),(\d+)((?:,\w+=\d+(?:x\d+)?)*)", body, re.ASCII)
    if match is None:
        raise UsageError(f"problem `{named}` is not understood; a convolution is {CONV_FORM}")
    ih, iw, ic, fh, fw, oc = map(number, match.groups()[:6])
    options = pairs(text, match[7], CONV_FORM, {**OPTIONS, "groups": (1, 1)})
    groups, other = options.pop("groups")
    if groups != other:
        raise UsageError(f"problem `{named}`: groups is one number; {CONV_FORM}")
    return ConvProblem((ih, iw), ic, (fh, fw), oc, **options, dtype=dtype, groups=groups)


def conv_mlir(problem: ConvProblem) -> str:
    """A function with one linalg.conv_2d_nchw_fchw: I (1, ic, ih, iw), F (oc, ic, fh, fw); gives O int32.

    In groups it is a linalg.conv_2d_ngchw_gfchw: I (1, g, ic / g, ih, iw), F (g, oc / g, ic / g, fh, fw).
    """
    ic, oc, groups = problem.ic, problem.oc, problem.groups
    if groups == 1:
        shapes = (1, ic), (oc, ic, *problem.taps), (1, oc, *problem.output)
        return one_conv(problem, "conv_2d_nchw_fchw", *shapes)
    filters = (groups, oc // groups, ic // groups, *problem.taps)
    output = (1, groups, oc // groups, *problem.output)
    return one_conv(problem, "conv_2d_ngchw_gfchw", (1, groups, ic // groups), filters, output)


def one_conv(
    problem: ConvProblem, op: str, lead: Sequence[int], filters: Sequence[int], output: Sequence[int]
) -> str:
    """A function with this op of linalg. `lead`: the image's dims in front of its rows and columns."""
    of = numerics.of(problem.dtype)
    element, total = of.mlir, of.accumulator.mlir
    zeros = ["0.0" if numeric == FLOAT32 else "0" for numeric in (of, of.accumulator)]
    (ih, iw), (top, left) = problem.image, problem.pad

    def tensor(shape: Sequence[int], kind: str = element) -> str:
        return f"tensor<{'x'.join(map(str, shape))}x{kind}>"

    image, weights, result = tensor((*lead, ih, iw)), tensor(filters), tensor(output, total)
    source, kind, pad = "%I", image, ""
    if top or left:
        source, kind = "%P", tensor((*lead, ih + 2 * top, iw + 2 * left))
        added = ", ".join(map(str, (*[0] * len(lead), top, left)))
        counters = ", ".join(f"%i{number} : index" for number in range(len(lead) + 2))
        pad = f"""\
  %none = arith.constant {zeros[0]} : {element}
  %P = tensor.pad %I low[{added}] high[{added}] {{
  ^bb0({counters}):
    tensor.yield %none : {element}
  }} : {image} to {kind}
"""
    indent = " " * len(f"  %O = linalg.{op} {{")
    return f"""\
func.func @conv(%I : {image}, %F : {weights}) -> {result} {{
  %zero = arith.constant {zeros[1]} : {total}
  %empty = tensor.empty() : {result}
  %init = linalg.fill ins(%zero : {total}) outs(%empty : {result}) -> {result}
{pad}\
  %O = linalg.{op} {{dilations = dense<{list(problem.dilation)}> : vector<2xi64>,
{indent}strides = dense<{list(problem.stride)}> : vector<2xi64>}}
      ins({source}, %F : {kind}, {weights}) outs(%init : {result}) -> {result}
  func.return %O : {result}
}}
"""
