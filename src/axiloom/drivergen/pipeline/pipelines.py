"""Pipelines by name, and the passes that they are made of.

``all`` copies where it must. An operand that cannot be read in place (transposed, or with rows that are
no whole beats) would be packed each time it is queued. Packets that are packed once and kept are faster,
so ``all`` is ``copying`` there.

Each can be measured alone. ``keep-packed`` and ``double-buffer`` are about packets. Without ``coalesce``
they get a packet for each opcode that sends a tile. So ``python -m benchmarks.paper ablation`` shows the
gain of each. What gains by an order of loops chooses that order if ``--order`` is not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.passes import ModulePass

from axiloom.base.errors import UsageError
from axiloom.base.wording.names import hint
from axiloom.drivergen.passes.frontend.as_convolution import AsConvolution
from axiloom.drivergen.passes.frontend.bufferise import Bufferise
from axiloom.drivergen.passes.frontend.fold_padding import FoldPadding
from axiloom.drivergen.passes.frontend.fuse_epilogue import FuseEpilogue
from axiloom.drivergen.passes.frontend.fuse_in_place import FuseInPlace
from axiloom.drivergen.passes.frontend.generalise import Generalise
from axiloom.drivergen.passes.frontend.im2col import Im2col
from axiloom.drivergen.passes.frontend.merge_groups import MOST_ROWS, MergeGroups
from axiloom.drivergen.passes.frontend.prepare_channels import PrepareChannels
from axiloom.drivergen.passes.frontend.split import Split
from axiloom.drivergen.passes.frontend.unit_dims import UnitDims
from axiloom.drivergen.passes.lowering.place import Place
from axiloom.drivergen.passes.lowering.specialise_copies import SpecialiseCopies
from axiloom.isa import AcceleratorSpec
from axiloom.plan.caches import ZYNQ_7000, Caches

OPTIMISATIONS = (
    "cache-tiling",
    "residency",
    "coalesce",
    "keep-packed",
    "double-buffer",
    "specialise-copies",
    "zero-copy",
    "tables",
)
"""What a pipeline may be made of, in its order: most are options of accel-place."""

PIPELINES: dict[str, tuple[str, ...]] = {
    "published": (),
    "coalesced": ("coalesce-transfers",),
    "copying": OPTIMISATIONS[:-2],
    "all": OPTIMISATIONS,
}
"""Pipelines with a name. `published` has one blocking transfer an opcode, `coalesced` one a block.

`all` copies nothing, unless an operand cannot be read where it is (transposed, rows that are no whole beats):
then packing it once and keeping it beats queues that copy it each time, and `all` is `copying`.
"""


LOCAL = ("cache-tiling", "specialise-copies")
"""Passes that leave each packet as it is."""


def default_pipeline(spec: AcceleratorSpec) -> str:
    """What ``axiloom run`` takes if it is not told: all passes that the accelerator's DMA is able to use."""
    if spec.keeps_packets:
        return "published"
    return "all" if spec.link.dma.scatter_gather else "copying"


def optimisations(pipeline: str) -> tuple[str, ...]:
    """The passes of a pipeline: one of PIPELINES, or names of OPTIMISATIONS with commas between them."""
    if pipeline in PIPELINES:
        return PIPELINES[pipeline]
    names = pipeline.split(",")
    for name in names:
        if name not in OPTIMISATIONS:
            known = f"{', '.join(PIPELINES)}, or passes with commas between them: {', '.join(OPTIMISATIONS)}"
            what = "pipeline" if len(names) == 1 else "pass"
            choices = [*PIPELINES, *OPTIMISATIONS]
            raise UsageError(f"unknown {what} `{name}`{hint(name, choices)}; there are {known}")
    return tuple(name for name in OPTIMISATIONS if name in names)


ORDERED = ("cache-tiling", "residency", "keep-packed")
"""Passes that gain by an order of loops, which is chosen for them if none is given."""


JOINS = {"coalesce", "coalesce-transfers"}
"""They join opcodes that block; the first does where there can be no packets."""
PACKETS = {"coalesce", "keep-packed", "double-buffer"}
"""They make packets, or are about them."""


def split(chosen: Sequence[str]) -> Split:
    """Packets need room for two tiles that come back."""
    return Split(twice=placing(chosen).buffers > 0)


def placing(chosen: Sequence[str], caches: Caches = ZYNQ_7000, *, tables: bool = False) -> Place:
    """The pass that places transfers for these optimisations. `tables`: those are of use."""
    join = not JOINS.isdisjoint(chosen)
    place = Place("residency" in chosen, "zero-copy" in chosen, line_bytes=caches.line_bytes, join=join)
    if place.queue:
        return replace(place, tables=tables and "tables" in chosen)
    if "cache-tiling" in chosen:
        place = replace(place, l2_size=caches.l2_size, l2_ways=caches.l2_ways)
    if PACKETS.isdisjoint(chosen):
        return place
    buffers = 2 if "double-buffer" in chosen else 1
    return replace(place, buffers=buffers, keep="keep-packed" in chosen, loops="coalesce" in chosen)


def transfers(chosen: Sequence[str], caches: Caches, *, tables: bool) -> list[ModulePass]:
    """The passes behind accel-annotate that make transfers; queues need no copies of their own."""
    passes = [split(chosen), placing(chosen, caches, tables=tables)]
    copies = "specialise-copies" in chosen and "zero-copy" not in chosen
    return [*passes, SpecialiseCopies()] if copies else passes


def prepare(spec: AcceleratorSpec | str | None) -> list[ModulePass]:
    """The passes in front of accel-annotate."""
    passes: list[ModulePass] = [Generalise()]
    if isinstance(spec, AcceleratorSpec) and spec.sets("pt"):
        passes.append(FoldPadding())
    if isinstance(spec, AcceleratorSpec) and spec.form.of_matrices:
        passes.append(Im2col())
    if isinstance(spec, AcceleratorSpec) and spec.post:
        passes += [FuseEpilogue(), PrepareChannels()]
    if isinstance(spec, AcceleratorSpec) and any(part.in_place for part in spec.parts):
        passes.append(FuseInPlace(spec))
    passes.append(Bufferise())
    if isinstance(spec, AcceleratorSpec) and spec.form.computes is None and spec.form.multiplies:
        passes.append(UnitDims())
    if isinstance(spec, AcceleratorSpec) and spec.form.walks:
        # Without descriptors the CPU copies tiles, and small ones overlap better.
        passes += [MergeGroups(min(spec.array[0], MOST_ROWS))] if spec.link.dma.scatter_gather else []
        passes.append(AsConvolution())
    return passes
