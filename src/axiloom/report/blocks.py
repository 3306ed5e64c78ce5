"""The system that was simulated, as blocks and what connects them, with what a run moved over each edge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from axiloom.boards import Board
from axiloom.cosim.job import Result
from axiloom.cosim.system import System
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS
from axiloom.report.numbers import size
from axiloom.report.types import Block, Edge, SystemPart

WORD = WORD_BITS // 8
CPU, L1, L2, BUS, MEMORY = "CPU", "L1 caches", "L2 cache", "interconnect", "memory"
"""Names of blocks; a DMA is called after its accelerator where there are several."""


def of(system: System, run: Result | None) -> SystemPart:
    """`run` None: nothing has run, so nothing has moved."""
    board = system.profile
    blocks, edges = [*_host(board, run, system)], [*_paths(board, run)]
    for device in system.devices:
        dma, moved = _dma(system, device), _moved(system, device, run)
        blocks += _device(system, device, dma, moved)
        edges += _links(system, device, dma, moved, run)
    return {"blocks": blocks, "edges": edges}


def _edge(
    source: str,
    target: str,
    what: str,
    bits: int | None = None,
    there: int | None = None,
    back: int | None = None,
    count: int | None = None,
) -> Edge:
    return {
        "source": source,
        "target": target,
        "what": what,
        "bits": bits,
        "there": there,
        "back": back,
        "count": count,
    }


# --- the CPU's side --------------------------------------------------------------------------------------


def _host(board: Board, run: Result | None, system: System) -> Iterator[Block]:
    counters: Mapping[str, int] = run.counters if run else {}
    caches, host = board.caches, board.host
    facts = [f"{host.title}, {board.cpu_hz / 1e6:g} MHz"]
    if run and (past := run.events["uncached_loads"] + run.events["uncached_stores"]):
        facts.append(f"{past:,} accesses of memory past the caches")
    yield {"name": CPU, "kind": "cpu", "facts": facts}
    sizes = f"{size(caches.l1i_size)} instructions, {size(caches.l1d_size)} data"
    misses = _misses(counters, "cache-misses", "cache-references")
    yield {"name": L1, "kind": "cache", "facts": [sizes, *misses]}
    if host.cache_levels > 1:
        misses = _misses(counters, "l2-misses", "l2-references")
        yield {
            "name": L2,
            "kind": "cache",
            "facts": [f"{size(caches.l2_size)}, {caches.l2_ways} ways", *misses],
        }
    fabric = board.fabric
    around = f"{fabric.mmio_request} + {fabric.mmio_response} fabric cycles an access"
    beside = [f"{block.name} at {block.base:#x}" for block in system.neighbours if block is not system.fifo]
    yield {"name": BUS, "kind": "bus", "facts": [around, *beside]}
    first = f"the first word of a read after {board.ddr_read_cycles} fabric cycles"
    yield {"name": MEMORY, "kind": "memory", "facts": [f"{size(board.ram_bytes)}, {first}"]}


def _misses(counters: Mapping[str, int], missed: str, asked: str) -> list[str]:
    if not counters.get(asked):
        return []
    return [f"{counters[missed] / counters[asked]:.1%} of {counters[asked]:,} accesses miss"]


def _paths(board: Board, run: Result | None) -> Iterator[Edge]:
    """From the CPU to memory and to registers. Caches move whole lines."""
    line, counts = board.line_bytes, {**run.counters, **run.events} if run else {}
    lines_of = f"lines of {line} bytes"

    def lines(name: str) -> int | None:
        return counts[name] * line if name in counts else None

    def accesses(*names: str) -> int | None:
        return sum(counts[name] for name in names) if run else None

    yield _edge(CPU, L1, "loads and stores", count=accesses("cache-references"))
    if board.host.cache_levels > 1:
        yield _edge(L1, L2, lines_of, count=accesses("l2-references"))
        yield _edge(L2, MEMORY, lines_of, there=lines("writebacks"), back=lines("l2-misses"))
    else:
        fetched = accesses("L1-icache-load-misses", "cache-misses")
        back = None if fetched is None else fetched * line
        yield _edge(L1, MEMORY, lines_of, there=lines("writebacks"), back=back)
    registers = accesses("mmio_reads", "mmio_writes")
    yield _edge(CPU, BUS, "registers", WORD_BITS, count=registers)


# --- an accelerator's side -------------------------------------------------------------------------------


def _dma(system: System, device: AcceleratorSpec) -> str | None:
    """What its DMA is called; None where the accelerator reads and writes memory itself."""
    if _master(system) is not None:
        return None
    if system.fifo is not None:
        return system.fifo.name
    return "DMA" if len(system.devices) == 1 else f"DMA of {device.name}"


def _master(system: System) -> int | None:
    """Bits of an accelerator's own AXI4 master."""
    rtl = system.user_rtl
    return rtl.master_width if rtl and rtl.master else None


def _moved(system: System, device: AcceleratorSpec, run: Result | None) -> Mapping[str, int]:
    """What was counted of one accelerator: words and transfers, in and out."""
    if run is None:
        return {}
    if device.name in run.accelerators:
        return run.accelerators[device.name]
    if len(system.devices) == 1:
        return run.fabric
    into, out = run.laps[-1][system.devices.index(device)] if run.laps else (0, 0)
    return {"words_in": into, "words_out": out}


def _device(
    system: System, device: AcceleratorSpec, dma: str | None, moved: Mapping[str, int]
) -> Iterator[Block]:
    if dma is not None:
        mode = "scatter-gather" if device.link.dma.scatter_gather else "direct register mode"
        if system.fifo is not None:
            mode = "AXI4-Stream FIFO"
        facts = [mode, *_transfers(moved)]
        yield {"name": dma, "kind": "dma", "facts": facts}
    clock = f"{system.profile.fabric_hz / 1e6:g} MHz"
    said = " by its specification" if system.user_rtl else ""
    facts = [f"RTL: {system.rtl}, {clock}", f"{device.macs:,} multiply-adds a cycle{said}"]
    yield {"name": device.name, "kind": "accelerator", "facts": facts}


def _transfers(moved: Mapping[str, int]) -> list[str]:
    if "transfers_in" not in moved:
        return []
    return [f"{moved['transfers_in']:,} transfers in, {moved['transfers_out']:,} out"]


def _links(
    system: System, device: AcceleratorSpec, dma: str | None, moved: Mapping[str, int], run: Result | None
) -> Iterator[Edge]:
    into, out = (moved[name] * WORD if name in moved else None for name in ("words_in", "words_out"))
    board = system.profile
    behind = (L2 if board.host.cache_levels > 1 else L1) if device.link.dma.coherent else MEMORY
    port = board.coherent.port.upper() if device.link.dma.coherent and board.coherent else "port to memory"
    if dma is None:
        yield _edge(BUS, device.name, "registers", WORD_BITS)
        yield _edge(behind, device.name, port, _master(system), into, out)
        return
    yield _edge(BUS, dma, "registers", WORD_BITS)
    if device.has_registers:
        yield _edge(BUS, device.name, "registers", WORD_BITS)
    read, written = into, out
    if run is not None and len(system.devices) == 1:  # with descriptors, which only the total has
        read, written = (run.events[f"dma_words_{way}"] * WORD for way in ("read", "written"))
    if system.fifo is None:
        yield _edge(behind, dma, port, device.link.stream_width, read, written)
    yield _edge(dma, device.name, "streams", device.link.stream_width, into, out)
