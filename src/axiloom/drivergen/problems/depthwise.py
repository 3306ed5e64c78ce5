"""Depthwise convolutions that the command line names: ``dwconv:56x56,64,3x3,pad=1:int8``.

Eight channels of a depthwise convolution are one product, whatever the array has. A channel takes as many
cycles in a product of any number of channels: each output channel waits for the taps of all. More
channels at once save instructions, but each is one more channel of zeros in the filters of all others.
With 32 at once (the rows of conv_v4 with 256 multiply-adds) the CPU wrote four times as many zeros, and
images of 7 x 7 no longer began on a beat: MobileNet-V2 took 86.3 ms, and with eight 74.7 ms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from axiloom.base.errors import UsageError
from axiloom.drivergen.problems.conv import LIMIT, OPTIONS, ConvProblem, one_conv
from axiloom.drivergen.problems.words import pairs, split_type

DEPTHWISE_FORM = "dwconv:IHxIW,C,FHxFW[,stride=N][,pad=N][,dilation=N][:TYPE]"


@dataclass(frozen=True)
class DepthwiseProblem:
    """O[c, oh, ow] = sum of F[c, fh, fw] I[c, oh * stride + fh * dilation - pad, ...], batch 1."""

    plane: ConvProblem
    """The same of one channel."""
    channels: int

    @property
    def dtype(self) -> str:
        return self.plane.dtype

    @property
    def multiply_adds(self) -> int:
        return self.channels * self.plane.multiply_adds

    @property
    def mlir(self) -> str:
        """A function with one linalg.depthwise_conv_2d_nchw_chw: I (1, c, ih, iw), F (c, fh, fw)."""
        rows, columns = self.plane.taps
        lead = (1, self.channels)
        filters, output = (self.channels, rows, columns), (1, self.channels, *self.plane.output)
        return one_conv(self.plane, "depthwise_conv_2d_nchw_chw", lead, filters, output)


def parse_depthwise(text: str) -> DepthwiseProblem:
    """The problem that `text` names; UsageError says what is accepted."""
    body, dtype = split_type(text, DEPTHWISE_FORM)
    match = re.fullmatch(r"(\d+)x(\d+),(\d+),(\d+)x(\d+)((?:,\w+=\d+(?:x\d+)?)*)", body)
    if match is None:
        raise UsageError(f"problem `{text}` is not understood; a depthwise convolution is {DEPTHWISE_FORM}")
    ih, iw, channels, fh, fw = map(int, match.groups()[:5])
    known = pairs(text, match[6], DEPTHWISE_FORM, OPTIONS)
    plane = ConvProblem((ih, iw), 1, (fh, fw), 1, known["stride"], known["pad"], known["dilation"], dtype)
    plane.check(text)
    if not 0 < channels <= LIMIT:
        raise UsageError(f"problem `{text}`: channels must be from 1 to {LIMIT}")
    return DepthwiseProblem(plane, channels)
