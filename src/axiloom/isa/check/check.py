"""Every fault of a specification, found at once.

A fault is one line, ``place: what is wrong, and what would be accepted``; the place is a JSON path inside
the accelerator. The checks themselves are in :mod:`axiloom.isa.check.opcodes` and
:mod:`axiloom.isa.check.sizes`; here they are put in an order such that each can rely on the parts that
earlier ones found sound, so that no fault hides another and none is reported twice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from axiloom.isa.check import link, opcodes, rtl, several, sizes
from axiloom.isa.check.opcodes import Subject
from axiloom.isa.contract.spec import AcceleratorSpec, Link
from axiloom.isa.contract.types import Opcode


@dataclass(frozen=True)
class _Rule:
    run: Callable[[Subject], Iterator[str]]
    needs: tuple[str, ...]
    """Keys that it reads; it is left out if one is broken. ``device.*``: if any part of it is."""
    breaks: str = ""
    """Key that later rules cannot rely on after a fault."""


def _whole(run: Callable[[AcceleratorSpec], Iterator[str]], *needs: str, breaks: str = "") -> _Rule:
    """A rule about the specification as a whole."""
    return _Rule(lambda subject: run(subject.spec), needs, breaks)


def _link(run: Callable[[Link], Iterator[str]], need: str, breaks: str = "") -> _Rule:
    """A rule about the link."""
    return _Rule(lambda subject: run(subject.spec.link), (need,), breaks)


def _each(run: Callable[[AcceleratorSpec, Opcode], Iterator[str]], *needs: str, breaks: str = "") -> _Rule:
    """A rule about each opcode; `breaks`: the key under which an opcode with a fault is broken."""
    needs = ("opcode_map", *needs)

    def every(subject: Subject) -> Iterator[str]:
        for opcode in subject.sound(*needs):
            faults = list(run(subject.spec, opcode))
            if faults and breaks:
                subject.broken.add(f"{breaks}.{opcode.name}")
            yield from faults

    return _Rule(every, needs)


_TILE = ("dims", "data", "data_type", "accel_size", "tile")
_FLOWS = ("opcode_map", "opcode_flow_map")
_RULES = (
    _whole(sizes.kernel, "kernel"),
    _whole(sizes.dims, "dims", breaks="dims"),
    _whole(sizes.data, "data", breaks="data"),
    _whole(sizes.tile_form, "dims", "accel_size", "tile", breaks="accel_size"),
    _whole(sizes.granule, "dims", "accel_size", "tile"),
    _whole(sizes.shape, "dims", "data", "accel_size", "tile"),
    _whole(sizes.rows, *_TILE),
    _whole(opcodes.some, "opcode_map", breaks="opcode_map"),
    _whole(opcodes.literals, "opcode_map"),
    _each(opcodes.host_names, "data", "dims", breaks="opcode_map"),
    _each(opcodes.fields, breaks="opcode_map"),
    _each(opcodes.field_sizes, "dims", "accel_size", "tile"),
    _each(opcodes.one_recv),
    _each(opcodes.device_names, "device", "data", breaks="device"),
    _each(opcodes.agreement, "device", breaks="device"),
    _each(opcodes.set_all_dims, "device", "dims"),
    _whole(opcodes.set_dims, "opcode_map.*", "device.*", "tile", "dims", "data"),
    _whole(opcodes.post, "post", "opcode_map.*", "device.*", "data"),
    _whole(several.in_place, "in_place", "opcode_map.*", "device.*", "data_type", "post"),
    _whole(opcodes.bit_names, "bits", "opcode_map", breaks="bits"),
    _Rule(opcodes.bits, ("bits", "opcode_map", "device")),
    _Rule(opcodes.selected_flow, ("selected_flow", "opcode_flow_map")),
    _whole(opcodes.flow_names, *_FLOWS),
    _whole(opcodes.init_names, "opcode_map", "init_opcodes", breaks="init_opcodes"),
    _whole(opcodes.init, "opcode_map", "init_opcodes", breaks="init_opcodes"),
    _Rule(opcodes.orders, (*_FLOWS, "device", "init_opcodes", "data", "dims")),
    _whole(sizes.buffer_names, "buffers", "data"),
    _whole(sizes.buffer_fit, *_TILE, "buffers"),
    _whole(sizes.macs, "macs", "dims", "accel_size", "tile"),
    _link(link.stream, "stream_width", breaks="stream_width"),
    _link(link.registers, "rtl"),
    _whole(rtl.accesses, "rtl", "opcode_map.*", "dims", "tile"),
    _whole(rtl.carried, "rtl", "opcode_map.*", "data", "dims", "tile", "accel_size"),
    _whole(rtl.inputs, "rtl", "opcode_map.*", "data", "tile"),
    _whole(sizes.sums, "post", "data_type"),
    _whole(sizes.words_only, "kernel", "data_type", "accel_size", "tile", "post", "stream_width"),
    _whole(sizes.beats, *_TILE, "stream_width"),
    _link(link.dma, "dma_config", breaks="dma_config"),
    _each(sizes.transfers_of_default_tile, *_TILE, "stream_width", "dma_config"),
    _whole(several.no_copies, "kernels", breaks="kernels"),
    _whole(several.opcode_words, "kernels", "opcode_map", "bits"),
)


_SHARED = {"dma_config", "stream_width"}
"""Keys that further kernels have from the accelerator."""


def check_device(device: AcceleratorSpec, broken: Collection[str] = ()) -> list[str]:
    """All faults of a device, with or without an opcode map, as :func:`check`."""
    return check(device, broken) if device.uses else link.check_link(device.link, broken)


def check(spec: AcceleratorSpec, broken: Collection[str] = ()) -> list[str]:
    """All faults of `spec`; an empty list if it is sound.

    `broken`: places in the file (``macs``, ``device.sA``) whose values in `spec` are neutral, because what
    stands there cannot be read. Checks that need them are left out.
    """
    subject = Subject(spec, set(broken))
    faults: list[str] = []
    for rule in _RULES:
        if any(subject.is_broken(need) for need in rule.needs):
            continue
        rule_faults = list(rule.run(subject))
        if rule_faults and rule.breaks:
            subject.broken.add(rule.breaks)
        faults += rule_faults
    if not subject.is_broken("kernels"):
        for part in spec.parts[1:]:
            own = [fault for fault in check(part, _SHARED & subject.broken) if fault not in faults]
            faults += [f"kernels.{part.use.name}.{fault}" for fault in own]
    return faults


def remarks(spec: AcceleratorSpec) -> list[str]:
    """What is sound in a sound specification and yet hardly meant: opcodes that nothing sends."""
    return [remark for part in spec.parts for remark in opcodes.unused(part)]


def check_tile(
    spec: AcceleratorSpec,
    tile: tuple[int, ...],
    place: str = "tile",
    settings: Mapping[str, int] | None = None,
) -> list[str]:
    """Why a sound accelerator cannot take `tile` (elements, in the order of its dims); empty if it can.

    `place` stands in front of each fault: ``accel_size`` in a file, ``--tile`` on a command line. `settings`:
    as in :meth:`AcceleratorSpec.sizes`.
    """
    text = "x".join(str(size) if size <= sizes.LARGEST else "..." for size in tile)
    if len(tile) != len(spec.dims):
        return [f"{place}: {text} has {len(tile)} sizes; the dims are {', '.join(spec.dims)}"]
    if any(size < 1 for size in tile):
        return [f"{place}: {text} has a size below 1"]
    if max(tile) > sizes.LARGEST:
        return [f"{place}: {text} has a size above {sizes.LARGEST}"]
    if not spec.tile.flexible and tile != spec.tile.size:
        only = "x".join(map(str, spec.tile.size))
        return [f"{place}: {spec.name} takes only tiles of {only}, not {text}"]
    faults = [*sizes.off_granule(spec, tile), *sizes.misshapen(spec, tile, settings)]
    faults += [what for operand in spec.operands for what in sizes.unfit(spec, operand, tile, settings)]
    faults += [what for op in spec.opcodes.values() for what in opcodes.overflows(spec, op, tile, settings)]
    if not faults:
        faults = [what for op in spec.opcodes.values() for what in sizes.transfers(spec, op, tile, settings)]
    return [f"{place}: {what}" for what in faults]
