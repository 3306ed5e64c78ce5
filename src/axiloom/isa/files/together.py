"""Several accelerators in one system: whether they fit together, and where their DMAs and windows are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from axiloom.base.errors import SpecError
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import DmaConfig

PAGE_BYTES = 0x1_0000
"""Address range of a DMA's registers where there are several: what tools for the Zynq give each."""

MOST = 8
"""Accelerators of one system."""

_WINDOWS_APART = 0x80_0000  # from a built-in accelerator's windows to the next one's


def check_together(specs: Sequence[AcceleratorSpec]) -> list[str]:
    """Why sound accelerators cannot share a system, a line each; empty if they can.

    Names, DMA ids, registers and windows are each accelerator's own; the streams' width and the kind
    of DMA are the same for all.
    """
    if len(specs) < 2:
        return [] if specs else ["a system has at least one accelerator"]
    if len(specs) > MOST:
        return [f"{len(specs)} accelerators: a system has at most {MOST}"]
    return [*_names(specs), *_places(specs), *_alike(specs)]


def place(specs: Sequence[AcceleratorSpec]) -> list[AcceleratorSpec]:
    """`specs` with DMAs and windows moved apart where they collide: the first that has a place keeps it.

    Built-in accelerators all have the same. Raises SpecError where they do not fit together otherwise.
    """
    placed: list[AcceleratorSpec] = []
    for spec in specs:
        config = spec.link.dma
        ids = {other.link.dma.id for other in placed}
        number = next(i for i in range(config.id, config.id + MOST + 1) if i not in ids)
        candidates = (_moved(config, number, page, step) for step in range(MOST) for page in range(MOST))
        moved = (spec.replace(dma=candidate) for candidate in candidates)
        fitting = (candidate for candidate in moved if not list(_places([*placed, candidate])))
        placed.append(next(fitting, spec))
    faults = check_together(placed)
    if faults:
        raise SpecError(faults)
    return placed


def _moved(config: DmaConfig, number: int, pages: int, windows: int) -> DmaConfig:
    return replace(
        config,
        id=number,
        address=config.address + pages * PAGE_BYTES,
        input_address=config.input_address + windows * _WINDOWS_APART,
        output_address=config.output_address + windows * _WINDOWS_APART,
    )


def _names(specs: Sequence[AcceleratorSpec]) -> Iterator[str]:
    for index, spec in enumerate(specs):
        for other in specs[:index]:
            if other.name == spec.name:
                yield f"{spec.name}: two accelerators of one system have this name; give one another `name`"
            elif other.link.dma.id == spec.link.dma.id:
                yield f"{spec.name}: dma_config.id: {spec.link.dma.id} is the DMA of {other.name} too"


def _places(specs: Sequence[AcceleratorSpec]) -> Iterator[str]:
    taken: list[tuple[str, str, int, int]] = []
    for spec in specs:
        config = spec.link.dma
        if config.address % PAGE_BYTES:
            yield (
                f"{spec.name}: dma_config.address: {config.address:#x} is not a multiple of {PAGE_BYTES:#x}, "
                "the range of each DMA in a system of several"
            )
        regions = (
            ("address", config.address, PAGE_BYTES),
            ("inputAddress", config.input_address, config.input_buffer_size),
            ("outputAddress", config.output_address, config.output_buffer_size),
        )
        for key, start, size in regions:
            for other, what, begin, length in taken:
                if start < begin + length and begin < start + size:
                    yield (
                        f"{spec.name}: dma_config.{key}: {size} bytes from {start:#x} overlap what lies at "
                        f"{what} of {other}; every accelerator has a DMA and windows of its own"
                    )
        taken += [(spec.name, *region) for region in regions]


def _alike(specs: Sequence[AcceleratorSpec]) -> Iterator[str]:
    first = specs[0]
    for spec in specs[1:]:
        if spec.link.stream_width != first.link.stream_width:
            yield (
                f"{spec.name}: stream_width: {spec.link.stream_width} bits, {first.name} has "
                f"{first.link.stream_width}: they share memory ports, which have one width"
            )
        if spec.link.dma.scatter_gather != first.link.dma.scatter_gather:
            has, has_not = (spec, first) if spec.link.dma.scatter_gather else (first, spec)
            yield (
                f"{spec.name}: dma_config.scatterGather: {has.name} has it and {has_not.name} has not: the "
                "driver's runtime is compiled for one kind of DMA; set it alike"
            )
        if spec.link.dma.coherent != first.link.dma.coherent:
            has, has_not = (spec, first) if spec.link.dma.coherent else (first, spec)
            yield (
                f"{spec.name}: dma_config.coherent: {has.name} has it and {has_not.name} has not: they share "
                "memory ports, which look into the caches or do not; set it alike"
            )
