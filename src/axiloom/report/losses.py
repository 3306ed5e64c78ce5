"""Where the time of a run went: every fabric cycle in one class, and what wins a class back.

The core counts cycles by what the hardware does and what the CPU does meanwhile
(:class:`axiloom.cosim.profile.Profile`); here the table becomes one list. A cycle belongs to the first
class of :data:`CLASSES` that holds it, so shares add up to the run. ``docs/report.md`` has the rules.

The limit is not a loss. The page's verdict leaves out the class of cycles that the limit consists of, and
names the cycles on top.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from axiloom.cosim.profile import CPU, HARDWARE, Profile
from axiloom.drivergen.pipeline.pipelines import LOCAL, OPTIMISATIONS, PIPELINES, optimisations
from axiloom.isa import AcceleratorSpec
from axiloom.isa.check.check import check
from axiloom.report.types import Counts, Loss


@dataclass(frozen=True)
class Class:
    """One part of a run's time. `passes` may win it back, as far as they do not run already."""

    key: str
    title: str
    text: str
    hardware: tuple[str, ...]
    cpu: tuple[str, ...] = CPU
    passes: tuple[str, ...] = ()


_IN_PLACE = ("zero-copy", "tables")
_PACKETS = ("coalesce", "keep-packed", "double-buffer")
_STILL = ("receiving", "quiet")
CLASSES = (
    Class("compute", "the array multiplies", "multiply-adds are active", ("compute",)),
    Class(
        "load",
        "words come in while the array waits",
        "a beat of a tile that the device did not have; the array does not multiply",
        ("load_new",),
    ),
    Class(
        "load_again",
        "words sent again that the device still had",
        "a beat of a tile that equals the last one sent of its operand",
        ("load_again",),
        passes=("residency",),
    ),
    Class(
        "load_head",
        "opcode words and sizes come in",
        "a beat with opcode words, dims or padding",
        ("load_head",),
        passes=("residency", "coalesce"),
    ),
    Class("store", "words of C go out", "a beat leaves; nothing comes in or multiplies", ("store",)),
    Class(
        "device",
        "the device does not take the next word",
        "a beat is offered and not taken: its buffers are full, or it executes an opcode",
        ("in_stalled",),
    ),
    Class(
        "dma_latency",
        "a transfer is under way, but no word comes",
        "the DMA starts or waits for memory",
        ("in_starved",),
        passes=("coalesce", *_IN_PLACE),
    ),
    Class(
        "dma_wait",
        "the CPU waits for a transfer's end",
        "nothing comes in; the CPU polls the DMA, or sleeps until its interrupt",
        _STILL,
        ("poll", "sleep"),
        ("coalesce", "double-buffer"),
    ),
    Class(
        "dma_control",
        "the CPU writes and reads the DMA's registers",
        "nothing moves; an access to a register is under way",
        _STILL,
        ("access",),
        ("coalesce", "double-buffer", *_IN_PLACE),
    ),
    Class(
        "pack",
        "the CPU packs while nothing moves",
        "the CPU copies into the DMA's input window",
        _STILL,
        ("pack",),
        ("residency", *_PACKETS, "specialise-copies", "cache-tiling", *_IN_PLACE),
    ),
    Class(
        "unpack",
        "the CPU unpacks C while nothing moves",
        "the CPU takes C out of the DMA's output window or on-chip memory",
        _STILL,
        ("unpack",),
        ("coalesce", "double-buffer", "specialise-copies", *_IN_PLACE),
    ),
    Class(
        "maintenance",
        "the CPU cleans and invalidates caches",
        "nothing moves; cache operations by line",
        _STILL,
        ("maintenance",),
        (*_PACKETS, *_IN_PLACE),
    ),
    Class(
        "code",
        "the CPU runs the driver's loops",
        "nothing moves; loops, addresses, calls of the runtime",
        _STILL,
        ("code",),
        ("coalesce", "specialise-copies", "double-buffer"),
    ),
    Class(
        "startup",
        "start and end of the program",
        "nothing moves, and main is not yet entered or has returned",
        _STILL,
        ("startup",),
    ),
)
"""In order of precedence. Each cell of (hardware, CPU) is in exactly one."""


def measure(
    profile: Profile, spec: AcceleratorSpec, pipeline: str | None, *, own_rtl: bool = False
) -> list[Loss]:
    """The classes with their cycles, shares and remedies; `pipeline` None: a driver of the user's own.

    `own_rtl`: the accelerator is the user's Verilog, which has the ports that it has.
    """
    total = max(sum(sum(row.values()) for row in profile.cells.values()), 1)
    losses: list[Loss] = []
    for class_ in CLASSES:
        cycles = sum(profile.cells[hw][cpu] for hw in class_.hardware for cpu in class_.cpu)
        losses.append(
            {
                "loss": class_.key,
                "title": class_.title,
                "definition": class_.text,
                "cycles": cycles,
                "share": round(cycles / total, 6),
                "remedies": remedies(class_, spec, pipeline, own_rtl=own_rtl) if cycles else [],
            }
        )
    return losses


def remedies(
    class_: Class, spec: AcceleratorSpec, pipeline: str | None, *, own_rtl: bool = False
) -> list[str]:
    """Options of ``axiloom run`` that this run does not have and that may win the class back."""
    chosen = optimisations(pipeline) if pipeline else ()
    options = []
    if useful := [name for name in class_.passes if name not in chosen and name in _able(spec)]:
        options.append(f"--pipeline {_joined([*chosen, *useful], spec)}")
    if class_.key in ("load", "load_again", "load_head", "store") and not own_rtl and _can_be_wider(spec):
        options.append(f"--stream-width {2 * spec.link.stream_width}")
    fixed = spec.keeps_packets
    if "zero-copy" in class_.passes and not spec.link.dma.scatter_gather and not fixed:
        options.append("--dma sg --pipeline all")
    if class_.key in ("load", "load_again") and any(len(part.flows) > 1 for part in spec.parts[:1]):
        options.append("--flow best")
    return options


def _can_be_wider(spec: AcceleratorSpec) -> bool:
    """Whether the specification allows streams of twice the width."""
    wider = spec.replace(stream_width=2 * spec.link.stream_width)
    return bool(spec.parts) and not check(wider.parts[0])


def _able(spec: AcceleratorSpec) -> list[str]:
    """The passes that this specification allows. Accesses to registers, and packets that count, may not be
    moved or joined; another compiler makes the driver of packets; zero copy needs scatter-gather."""
    if not spec.parts or spec.has_registers:
        return []
    if spec.keeps_packets:
        return [*LOCAL]
    return [name for name in OPTIMISATIONS if name not in _IN_PLACE or spec.link.dma.scatter_gather]


def _joined(wanted: Sequence[str], spec: AcceleratorSpec) -> str:
    """Passes as ``--pipeline`` takes them."""
    passes = tuple(name for name in _able(spec) if name in wanted)
    named = (name for name, preset in PIPELINES.items() if preset == passes)
    return next(named, ",".join(passes))


def largest(losses: Iterable[Loss], needed: Collection[str] = ("compute",)) -> Loss | None:
    """The class that costs most, apart from those `needed`; None if nothing else took time."""
    others = [loss for loss in losses if loss["loss"] not in needed and loss["cycles"]]
    return max(others, key=lambda loss: loss["cycles"]) if others else None


def meanwhile(profile: Profile) -> dict[str, Counts]:
    """The whole table, fabric cycles: by what the hardware did, then by what the CPU did."""
    return {hw: dict(profile.cells[hw]) for hw in HARDWARE}
