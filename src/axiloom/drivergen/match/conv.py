"""Is this `linalg.generic` a convolution, and which of its loops and operands is which?

As for matmuls, names, order of the loops and layout of the operands do not matter (NCHW or NHWC): what
matters is that the body multiplies the two inputs and adds to the output, and that two dims of one of them,
the image, are indexed by a loop of the output and a loop of the filter each, as in
O[b, oc, oh, ow] += I[b, ic, oh * sh + fh * dh, ow * sw + fw * dw] F[oc, ic, fh, fw].
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType

from axiloom.drivergen.dialects.product import multiplied, padding
from axiloom.drivergen.match.matmul import Match, NoMatchError, check_body, host_dim, operands_of, terms

WHAT = "a convolution"
SPATIAL = (("oh", "fh", "sh", "dh"), ("ow", "fw", "sw", "dw"))
"""Loop of the output, loop of the filter, stride and dilation of the image's rows and columns."""


class GroupsError(NoMatchError):
    """It is a convolution, but in groups."""


@dataclass(frozen=True)
class Sliding:
    """What a filter that slides over an image has, whatever its channels do."""

    image: int
    """Number of the operand that is the image."""
    named: Mapping[int, str]
    """Names of the loops over rows and columns."""
    settings: Mapping[str, int]
    """Strides and dilations."""
    loops: tuple[frozenset[int], frozenset[int], frozenset[int]]
    """Those that image, filter and output are indexed by."""

    @property
    def groups(self) -> frozenset[int]:
        """Loops over channels of which each is convolved with filters of its own only."""
        return self.loops[0] & self.loops[1] & self.loops[2]

    def channels(self, name: str) -> frozenset[int]:
        """Loops over channels: ``ic`` or ``oc``."""
        image, filters, output = self.loops
        both = image & filters if name == "ic" else filters & output
        return both - self.groups - self.named.keys()


def match_conv(op: linalg.GenericOp, *, groups: bool = False) -> Match:
    """Names for loops and operands of `op`, strides, dilations and padding; raises NoMatchError.

    Loops over `groups` of channels are loops of the host. Where they are not asked for, GroupsError.
    """
    windows = sliding(op)
    if windows.groups and not groups:
        raise GroupsError("it convolves channels in groups (depthwise), not each with all")
    named = dict(windows.named)
    for name, what in (("ic", "input"), ("oc", "output")):
        loops = windows.channels(name)
        if len(loops) != 1:
            raise NoMatchError(f"it has {len(loops)} loops over {what} channels, {WHAT} has 1")
        named[next(iter(loops))] = name
    kinds = [attr.data for attr in op.get_iterator_types()]
    for loop in range(len(kinds)):
        named.setdefault(loop, host_dim(list(named.values())))
        wanted = IteratorType.PARALLEL if loop in windows.loops[2] else IteratorType.REDUCTION
        if kinds[loop] != wanted:
            raise NoMatchError(f"its loop over {named[loop]} is {kinds[loop].value}, not {wanted.value}")
    dims = tuple(named[loop] for loop in range(len(kinds)))
    operands = operands_of(op, ("I", "F", "O") if windows.image == 0 else ("F", "I", "O"))
    top, left = padding(op)
    return Match(dims, operands, {**windows.settings, "pt": top, "pl": left})


def sliding(op: linalg.GenericOp) -> Sliding:
    """How its filter slides over its image; raises NoMatchError where there are none."""
    check_body(op, WHAT)
    maps = [[terms(e) for e in op.indexing_maps.data[number].data.results] for number in multiplied(op)]
    image = [number for number in (0, 1) if any(len(loops) > 1 for loops in maps[number])]
    if len(image) != 1 or any(len(factors) > 1 for factors in maps[2]):
        raise NoMatchError(f"{WHAT} has one input that is indexed by sums of loops, this op has {len(image)}")
    filters = 1 - image[0]
    if any(len(factors) != 1 or 1 not in factors.values() for m in (maps[filters], maps[2]) for factors in m):
        raise NoMatchError("its filter or its output is not indexed by plain loops")
    loops = tuple(frozenset(loop for factors in maps[n] for loop in factors) for n in (image[0], filters, 2))
    named, settings = _spatial(maps[image[0]], loops[1], loops[2])
    return Sliding(image[0], named, settings, (loops[0], loops[1], loops[2]))


def _spatial(
    image: list[dict[int, int]], in_filters: Set[int], in_output: Set[int]
) -> tuple[dict[int, str], dict[str, int]]:
    """Names of the loops over rows and columns; strides and dilations."""
    sums = [factors for factors in image if len(factors) > 1]
    if len(sums) != len(SPATIAL):
        raise NoMatchError(f"it slides along {len(sums)} dims of the image, not 2")
    named: dict[int, str] = {}
    settings: dict[str, int] = {}
    for factors, names in zip(sums, SPATIAL, strict=True):
        out = [loop for loop in factors if loop in in_output and loop not in in_filters]
        taps = [loop for loop in factors if loop in in_filters and loop not in in_output]
        if len(factors) != 2 or len(out) != 1 or len(taps) != 1:
            raise NoMatchError(
                "rows of its image are not indexed by a loop of the output and one of the filter"
            )
        named |= {out[0]: names[0], taps[0]: names[1]}
        settings |= {names[2]: factors[out[0]], names[3]: factors[taps[0]]}
    if len(named) != 2 * len(SPATIAL):
        raise NoMatchError("rows and columns of its image are indexed by the same loop")
    return named, settings


def image_shape(op: linalg.GenericOp, found: Match) -> Mapping[str, int]:
    """Rows and columns of the image, without padding, by the loop of the output that runs over them."""
    number = found.operands.index("I")
    shape = op.operands[number].type.get_shape()  # type: ignore[attr-defined]
    results = op.indexing_maps.data[number].data.results
    sizes = {}
    for size, expression in zip(shape, results, strict=True):
        for loop in terms(expression):
            if found.dims[loop] in ("oh", "ow"):
                sizes[found.dims[loop]] = size
    return sizes
