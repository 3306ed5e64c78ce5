"""Stale data of a run: where caches and memory disagreed, as lines with their places in the source.

``native/memory/contents.hpp`` keeps both, so a run goes on with the bytes that a board would have. A report
is about bytes that really were old or lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from axiloom.cosim import diagnosis, native
from axiloom.cosim.lines import Source

if TYPE_CHECKING:
    from axiloom.isa import AcceleratorSpec


def lines(library: Any, source: Source, specs: Sequence[AcceleratorSpec]) -> list[str]:
    """One for each place in the program, oldest first: a line may be several instructions."""
    places: dict[tuple[int, str, str, int], list[Any]] = {}
    for number in range(library.axl_stale_count()):
        raw = library.axl_stale(number).contents
        culprit = source.place(raw.pc, raw.call)
        other = source.place(raw.other_pc, raw.other_call)
        places.setdefault((raw.kind, culprit, other, raw.by_dma), []).append(raw)
    return [_line(reports, source, specs) for reports in places.values()]


def _line(reports: Sequence[Any], source: Source, specs: Sequence[AcceleratorSpec]) -> str:
    first = min(raw.first for raw in reports)
    last = max(raw.last for raw in reports)
    count = sum(raw.count for raw in reports)
    said = _SAID[_KINDS[reports[0].kind]](reports[0], source, _bytes(first, last, source, specs))
    times = f"{count} time{'s' if count != 1 else ''}"
    return f"{said}; {times}, first at fabric cycle {reports[0].cycle}"


def refusal(stale: Sequence[str]) -> str:
    """What is said of a run with stale data."""
    return diagnosis.first_of("stale data, as on a board", stale)


def _missing_flush(raw: Any, source: Source, where: str) -> str:
    store = source.place(raw.pc, raw.call)
    return (
        f"missing flush: {_dma(source, raw.other_pc, raw.other_call)} read old {where}; {store} had "
        "stored new ones, and no clean has written them to memory"
    )


def _missing_invalidate(raw: Any, source: Source, where: str) -> str:
    reader = source.place(raw.pc, raw.call) if raw.pc else "whoever takes the result"
    return (
        f"missing invalidate: {reader} read old {where} from the caches; "
        f"{_dma(source, raw.other_pc, raw.other_call)} has written new ones to memory"
    )


def _lost_write(raw: Any, source: Source, where: str) -> str:
    store = source.place(raw.other_pc, raw.other_call)
    return (
        f"lost DMA data: {source.place(raw.pc, raw.call)} wrote a cache line back over {where}, which "
        f"the DMA had written; the line was dirty since {store} stored to it"
    )


def _thrown_away(raw: Any, source: Source, where: str) -> str:
    reader = (
        _dma(source, raw.other_pc, raw.other_call)
        if raw.by_dma
        else source.place(raw.other_pc, raw.other_call)
        if raw.other_pc
        else "whoever takes the result"
    )
    return (
        f"lost store: {source.place(raw.pc, raw.call)} invalidated {where} without a clean, which "
        f"{source.place(raw.store_pc, raw.store_call)} had stored; {reader} read what was there before"
    )


_KINDS = tuple(native.numbers("axl_stale_kind", "AXL_STALE_"))
_SAID = {
    "MISSING_FLUSH": _missing_flush,
    "MISSING_INVALIDATE": _missing_invalidate,
    "LOST_WRITE": _lost_write,
    "THROWN_AWAY": _thrown_away,
}
"""By axl_stale_kind."""


def _dma(source: Source, pc: int, call: int) -> str:
    return f"the DMA, started by {source.place(pc, call).removesuffix(',')}," if pc else "the DMA"


def _bytes(first: int, last: int, source: Source, specs: Sequence[AcceleratorSpec]) -> str:
    at = f"0x{first:08X}"
    if owner := source.object_at(first, last):
        return f"bytes {first - owner.address} to {last - owner.address} of {owner.name} ({at})"
    for spec in specs:
        for window, address, size in (
            ("input", spec.link.dma.input_address, spec.link.dma.input_buffer_size),
            ("output", spec.link.dma.output_address, spec.link.dma.output_buffer_size),
        ):
            if address <= first <= last < address + size:
                return f"bytes {first - address} to {last - address} of the {window} window ({at})"
    return f"bytes at {at} to 0x{last:08X}"
