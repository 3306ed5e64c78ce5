"""Which numerics and streams the engines here have: a signed multiplier and adders that wrap."""

from __future__ import annotations

from collections.abc import Iterator

from axiloom.isa.check.link import STREAM_WIDTHS
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.numerics import SIGNED


def unlike(spec: AcceleratorSpec, engine: str) -> Iterator[str]:
    """Why no `engine` has elements and streams as those of `spec`."""
    if spec.data_type not in SIGNED:
        taken = ", ".join(kind.name for kind in SIGNED)
        why = "there is no RTL of ours for it (--rtl model runs it)"
        yield f"{engine} data type must be one of {taken}, not {spec.data_type}: {why}"
    if spec.link.stream_width not in STREAM_WIDTHS:
        widths = ", ".join(map(str, STREAM_WIDTHS))
        yield f"{engine} stream width must be one of {widths}, not {spec.link.stream_width}"
