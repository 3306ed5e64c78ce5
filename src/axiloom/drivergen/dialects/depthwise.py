"""Depthwise convolutions: named ops of linalg that xDSL has not.

Each channel of the image has filters of its own; with a channel multiplier (``hwcm``) there are several.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.linalg.abstract_ops import ConvOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Operation
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.irdl import irdl_op_definition


class _Depthwise(ConvOperation, ABC):
    """Base. `FORM`: the dims of image, filter and output, by letters; y and x are the filter's."""

    FORM: ClassVar[str]

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        image, filters, output = self.FORM.split()
        loops = output + "yx"
        dims: dict[str, AffineExpr] = {letter: AffineDimExpr(number) for number, letter in enumerate(loops)}
        steps = zip("hw", "yx", self.strides.get_values(), self.dilations.get_values(), strict=True)
        under = {out: dims[out] * stride + dims[tap] * dilation for out, tap, stride, dilation in steps}
        maps = ([under.get(d, dims[d]) for d in image], *([dims[d] for d in o] for o in (filters, output)))
        return [AffineMap(len(loops), 0, tuple(expressions)) for expressions in maps]

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        taps = (IteratorTypeAttr.reduction(),) * 2
        return ArrayAttr((*(IteratorTypeAttr.parallel(),) * (self.get_num_loops() - 2), *taps))


@irdl_op_definition
class DepthwiseConv2DNchwChwOp(_Depthwise):
    name = "linalg.depthwise_conv_2d_nchw_chw"
    FORM: ClassVar[str] = "nchw cyx nchw"


@irdl_op_definition
class DepthwiseConv2DNhwcHwcOp(_Depthwise):
    name = "linalg.depthwise_conv_2d_nhwc_hwc"
    FORM: ClassVar[str] = "nhwc yxc nhwc"


@irdl_op_definition
class DepthwiseConv2DNhwcHwcmOp(_Depthwise):
    name = "linalg.depthwise_conv_2d_nhwc_hwcm"
    FORM: ClassVar[str] = "nhwc yxcm nhwcm"


DEPTHWISE: tuple[type[Operation], ...] = (
    DepthwiseConv2DNchwChwOp,
    DepthwiseConv2DNhwcHwcOp,
    DepthwiseConv2DNhwcHwcmOp,
)
