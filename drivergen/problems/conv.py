"""Convolutions that the command line names: ``conv:58_64_3_64_1``, ``conv:56x56,64,3x3,64,pad=1:int8``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from axiloom.drivergen.c.copy_driver import CopyProblem, parse_copy
from axiloom.drivergen.problems.elements import elements
from axiloom.drivergen.problems.matmul import MATMUL_FORM, Problem, parse_problem
from axiloom.errors import UsageError
from axiloom.isa import numerics
from axiloom.isa.contract.names import hint
from axiloom.isa.numerics import FLOAT32

CONV_FORM = (
    "conv:iHW_iC_fHW_oC_stride[:TYPE] (iHW with its padding) or "
    "conv:IHxIW,iC,FHxFW,oC[,stride=N][,pad=N][,dilation=N][:TYPE], N a number or ROWSxCOLUMNS"
)
_LIMIT = 1 << 13
"""Largest rows, columns or channels: more does not fit the memory of any board here."""
_OPTIONS = {"stride": 1, "pad": 0, "dilation": 1}


@dataclass(frozen=True)
class ConvProblem:
    """O[oc, oh, ow] = sum of F[oc, ic, fh, fw] I[ic, oh * stride + fh * dilation - pad, ...], batch 1.

    Pairs are rows and columns. Image and filter are of `dtype`, the result of its accumulator.
    """

    image: tuple[int, int]
    ic: int
    taps: tuple[int, int]
    oc: int
    stride: tuple[int, int] = (1, 1)
    pad: tuple[int, int] = (0, 0)
    dilation: tuple[int, int] = (1, 1)
    dtype: str = numerics.INT32.name

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
        return self.oc * rows * columns * self.ic * self.taps[0] * self.taps[1]

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


def parse_workload(text: str) -> Problem | ConvProblem | CopyProblem:
    """The problem that `text` names; UsageError says what is accepted."""
    if text.startswith("copy:"):
        return parse_copy(text)
    if text.startswith("conv:"):
        return parse_conv(text)
    if not text.startswith("matmul:"):
        accepted = f"{MATMUL_FORM}, {CONV_FORM}, or a file *.mlir"
        raise UsageError(f"problem `{text}` is not understood; accepted are {accepted}")
    return parse_problem(text)


def parse_conv(text: str) -> ConvProblem:
    """The same for convolutions."""
    body, _, dtype = text.removeprefix("conv:").partition(":")
    dtype = elements(text, dtype, CONV_FORM).name
    if found := re.fullmatch(r"(\d+)_(\d+)_(\d+)_(\d+)_(\d+)", body):
        side, ic, taps, oc, stride = map(int, found.groups())
        problem = ConvProblem((side, side), ic, (taps, taps), oc, (stride, stride), dtype=dtype)
    else:
        problem = _in_words(text, body, dtype)
    sizes = (*problem.image, problem.ic, *problem.taps, problem.oc)
    if not all(0 < size <= _LIMIT for size in (*sizes, *problem.stride, *problem.dilation)):
        raise UsageError(f"problem `{text}`: sizes, strides and dilations must be from 1 to {_LIMIT}")
    if min(problem.output) < 1:
        raise UsageError(f"problem `{text}`: the filter is larger than the image")
    return problem


def _in_words(text: str, body: str, dtype: str) -> ConvProblem:
    found = re.fullmatch(r"(\d+)x(\d+),(\d+),(\d+)x(\d+),(\d+)((?:,\w+=\d+(?:x\d+)?)*)", body)
    if found is None:
        raise UsageError(f"problem `{text}` is not understood; a convolution is {CONV_FORM}")
    ih, iw, ic, fh, fw, oc = map(int, found.groups()[:6])
    options = {name: (value, value) for name, value in _OPTIONS.items()}
    for option in found[7].split(",")[1:]:
        name, _, value = option.partition("=")
        if name not in _OPTIONS:
            raise UsageError(
                f"problem `{text}`: unknown option `{name}`{hint(name, list(_OPTIONS))}; {CONV_FORM}"
            )
        rows, _, columns = value.partition("x")
        options[name] = int(rows), int(columns or rows)
    return ConvProblem(
        (ih, iw), ic, (fh, fw), oc, options["stride"], options["pad"], options["dilation"], dtype
    )


def conv_mlir(problem: ConvProblem) -> str:
    """A function with one linalg.conv_2d_nchw_fchw: I (1, ic, ih, iw), F (oc, ic, fh, fw); gives O."""
    kind = numerics.of(problem.dtype)
    element, total = kind.mlir, kind.accumulator.mlir
    zeros = ["0.0" if one == FLOAT32 else "0" for one in (kind, kind.accumulator)]
    (ih, iw), (fh, fw), (oh, ow) = problem.image, problem.taps, problem.output
    (top, left), ic, oc = problem.pad, problem.ic, problem.oc
    image, filters = f"tensor<1x{ic}x{ih}x{iw}x{element}>", f"tensor<{oc}x{ic}x{fh}x{fw}x{element}>"
    result, source, padded, pad = f"tensor<1x{oc}x{oh}x{ow}x{total}>", "%I", image, ""
    if top or left:
        source, padded = "%P", f"tensor<1x{ic}x{ih + 2 * top}x{iw + 2 * left}x{element}>"
        pad = f"""\
  %none = arith.constant {zeros[0]} : {element}
  %P = tensor.pad %I low[0, 0, {top}, {left}] high[0, 0, {top}, {left}] {{
  ^bb0(%i0 : index, %i1 : index, %i2 : index, %i3 : index):
    tensor.yield %none : {element}
  }} : {image} to {padded}
"""
    return f"""\
func.func @conv(%I : {image}, %F : {filters}) -> {result} {{
  %zero = arith.constant {zeros[1]} : {total}
  %empty = tensor.empty() : {result}
  %init = linalg.fill ins(%zero : {total}) outs(%empty : {result}) -> {result}
{pad}\
  %O = linalg.conv_2d_nchw_fchw {{dilations = dense<{list(problem.dilation)}> : vector<2xi64>,
                                 strides = dense<{list(problem.stride)}> : vector<2xi64>}}
      ins({source}, %F : {padded}, {filters}) outs(%init : {result}) -> {result}
  func.return %O : {result}
}}
"""
