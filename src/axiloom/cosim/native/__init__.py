"""The C interface of the core (``axl_core.h``) for ctypes: structures, signatures, and values for them.

The core itself is C++: ``cpu/`` runs programs, ``memory/`` has RAM and caches and who looks at them,
``ps7/`` is what a Zynq-7000 has around its CPU, ``neighbours/`` the vendor's IP in the fabric, ``bus/`` the
registers and streams between CPU and accelerator, and what passed there.

The field lists mirror the header one to one; :func:`bind` gives the functions their types.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from ctypes import POINTER, c_char, c_char_p, c_int, c_int32, c_int64, c_longlong, c_uint8, c_uint32, c_uint64
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axiloom.cosim.blocks import Block, kind_of
from axiloom.isa.files.together import MOST

if TYPE_CHECKING:
    from axiloom.boards import Board

HEADER = Path(__file__).with_name("axl_core.h")


@cache
def numbers(enum: str, prefix: str) -> Mapping[str, int]:
    """Of an enumeration in the header: name, without its prefix, to number."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="utf-8"), flags=re.DOTALL)
    body = re.search(rf"enum {enum} \{{(.*?)\}}", text, re.DOTALL)
    assert body is not None, enum
    result: dict[str, int] = {}
    for entry in filter(None, map(str.strip, body[1].split(","))):
        name, _, number = entry.partition("=")
        result[name.strip().removeprefix(prefix)] = int(number) if number else len(result)
    return result


COST_CLASSES = ("alu", "mul", "load", "store", "multiple", "word", "branch", "vfp", "neon", "system")
COST_UNIT = 64
"""Costs of instructions are in 1/64 CPU cycle."""


L1D_EVENTS = ("separate", "accesses")
OS_COSTS = ("cycles", "instructions", "loads", "stores", "branches")


class OsCost(ctypes.Structure):
    _fields_ = [(name, c_uint32) for name in OS_COSTS]


MOST_REGIONS = 8


class Region(ctypes.Structure):
    _fields_ = [("address", c_uint32), ("bytes", c_uint32)]


class Config(ctypes.Structure):
    _fields_ = [
        ("cpu_hz", c_uint64),
        ("fabric_hz", c_uint64),
        *((f"{cache}_{what}", c_uint32) for cache in ("l1i", "l1d", "l2") for what in ("size", "ways")),
        ("replacement", c_uint32),
        ("pair_accesses", c_uint32),
        ("predictor_bits", c_uint32),
        ("preloads", c_uint32),
        ("cost", c_uint32 * len(COST_CLASSES)),
        *(
            (f"{name}_cycles", c_uint32)
            for name in (
                "l2_hit",
                "ddr",
                "writeback",
                "branch_miss",
                "uncached_read",
                "uncached_write",
                "private_read",
                "private_write",
                "maintenance",
                "ocm",
                "line_gap",
                "ddr_gap",
                "mmio_request",
                "mmio_response",
                "quantum",
            )
        ),
        ("mmio_base", c_uint32 * MOST),
        ("mmio_pages", c_uint32),
        ("mmio_size", c_uint32),
        ("has_os", c_uint32),
        *((name, OsCost) for name in ("start", "syscall", "page_fault")),
        ("dma_coherent", c_uint32),
        ("dma_allocates", c_uint32),
        ("l1d_events", c_uint32),
        ("count_uncached", c_uint32),
        ("host", c_char * 24),
        ("line_bytes", c_uint32),
        ("ocm_bytes", c_uint32),
        ("uncached", Region * MOST_REGIONS),
        ("uncached_regions", c_uint32),
    ]


class Process(ctypes.Structure):
    _fields_ = [
        (name, c_uint32)
        for name in (
            *("entry", "end", "text_start", "text_end", "phdr", "phent", "phnum"),
            *("stack_top", "stack_bytes", "map_low", "arguments_bytes"),
        )
    ] + [("arguments", c_char_p)]


class BoardProgram(ctypes.Structure):
    _fields_ = [
        *((name, c_uint32) for name in ("entry", "text_start", "text_end")),
        *((f"{what}_{end}", c_uint32) for what in ("exit", "assert") for end in ("begin", "end")),
        ("input_bytes", c_uint32),
        ("limit_ns", c_uint64),
        ("input", c_char_p),
        ("until", c_char_p),
        ("reads", c_int32),
        ("prints", c_int32),
    ]


class LiveRequest(ctypes.Structure):
    _fields_ = [*((name, c_uint32) for name in ("op", "address", "value", "port")), ("cycles", c_uint64)]


class LiveAnswer(ctypes.Structure):
    _fields_ = [
        *((name, c_uint32) for name in ("failed", "value")),
        ("cycle", c_uint64),
        *((name, c_uint32) for name in ("lines", "bytes")),
    ]


SETTINGS, MOST_NEIGHBOURS = 12, 16


class Neighbour(ctypes.Structure):
    _fields_ = [
        ("kind", c_char * 24),
        *((name, c_uint32) for name in ("base", "bytes", "line")),
        ("settings", c_uint32 * SETTINGS),
    ]


class Drive(ctypes.Structure):
    _fields_ = [("cycle", c_uint64), *((name, c_uint32) for name in ("base", "port", "levels", "unused"))]


class State(ctypes.Structure):
    _fields_ = [
        *((name, c_uint32) for name in ("run", "fault", "pc", "address")),
        ("exit_code", c_int32),
        *((name, c_uint32) for name in ("waiting", "wait_addr", "mmio_pc")),
        ("text", c_char * 200),
    ]


PERF_NAMES = {
    "instructions": "instructions",
    "cpu-cycles": "cpu_cycles",
    "task-clock": "task_clock_ns",
    "branch-instructions": "branch_instructions",
    "branch-misses": "branch_misses",
    "L1-dcache-loads": "l1d_loads",
    "L1-dcache-load-misses": "l1d_load_misses",
    "L1-dcache-stores": "l1d_stores",
    "cache-references": "cache_references",
    "cache-misses": "cache_misses",
    "L1-icache-load-misses": "l1i_misses",
    "l2-references": "l2_references",
    "l2-misses": "l2_misses",
    "stall-cycles": "stall_cycles",
}
"""Counter by perf's name to the field of `Counters`. task-clock is in nanoseconds."""

ACTIVITY = (
    "mmio_reads",
    "mmio_writes",
    "polls",
    "switches",
    "dma_words_read",
    "dma_words_written",
    "uncached_loads",
    "uncached_stores",
    "maintenance",
    "writebacks",
    "syscalls",
    "page_faults",
)


class Counters(ctypes.Structure):
    _fields_ = [
        (name, c_uint64)
        for name in (
            "instructions",
            "cpu_cycles",
            "task_clock_ns",
            "branch_instructions",
            "branch_misses",
            "l1d_loads",
            "l1d_load_misses",
            "l1d_stores",
            "l1d_store_misses",
            "cache_references",
            "cache_misses",
            "l1i_misses",
            "l2_references",
            "l2_misses",
            "writebacks",
            "stall_cycles",
            "uncached_loads",
            "uncached_stores",
            "mmio_reads",
            "mmio_writes",
            "polls",
            "maintenance",
            "switches",
            "dma_words_read",
            "dma_words_written",
            "syscalls",
            "page_faults",
        )
    ]


class Stale(ctypes.Structure):
    _fields_ = [
        *((name, c_uint32) for name in ("kind", "first", "last", "pc", "call", "other_pc", "other_call")),
        *((name, c_uint32) for name in ("store_pc", "store_call", "by_dma")),
        ("count", c_uint64),
        ("cycle", c_uint64),
    ]


class Dma(ctypes.Structure):
    _fields_ = [(name, c_uint32) for name in ("length_bits", "beat_bytes", "scatter_gather", "registers")]


class Mistake(ctypes.Structure):
    _fields_ = [
        *((name, c_uint32) for name in ("kind", "dma", "at", "value", "detail", "pc", "call", "unused")),
        ("count", c_uint64),
        ("cycle", c_uint64),
    ]


class DmaState(ctypes.Structure):
    _fields_ = [("control", c_uint32 * 2), ("started", c_uint32 * 2)]


class Range(ctypes.Structure):
    _fields_ = [("begin", c_uint32), ("end", c_uint32)]


class Outside(ctypes.Structure):
    _fields_ = [
        *((name, c_uint32) for name in ("kind", "array", "first", "end", "pc", "call")),
        ("count", c_uint64),
        ("cycle", c_uint64),
    ]


class Pointer(ctypes.Structure):
    _fields_ = [(name, c_uint32) for name in ("at", "bytes", "writes")]


class Strayed(ctypes.Structure):
    _fields_ = [
        *((name, c_uint32) for name in ("pointer", "writes")),
        *((name, c_int64) for name in ("first", "last")),
        *((name, c_uint32) for name in ("address", "unused")),
        *((name, c_uint64) for name in ("count", "cycle")),
    ]


class Breach(ctypes.Structure):
    _fields_ = [
        *((name, c_uint32) for name in ("port", "channel", "rule", "a", "b", "unused")),
        ("count", c_uint64),
        ("cycle", c_uint64),
    ]


class Access(ctypes.Structure):
    _fields_ = [
        *((name, c_uint32) for name in ("writes", "address", "last", "unused")),
        ("count", c_uint64),
    ]


class Wait(ctypes.Structure):
    _fields_ = [(name, c_uint32) for name in ("offset", "mask")]


class Action(ctypes.Structure):
    _fields_ = [
        ("kind", c_uint32),
        ("operand", c_char * 16),
        ("element_bits", c_uint32),
        ("lines", c_uint32),
        ("unit_words", c_uint32),
        ("saved", c_uint32),
        ("n", c_uint32),
        ("dim", c_uint32 * 8),
        ("shift", c_uint32 * 8),
        ("bits", c_uint32 * 8),
    ]


class Protocol(ctypes.Structure):
    _fields_ = [
        *((name, c_uint64) for name in ("words_in", "words_out", "payload_left", "store_left")),
        ("unknown", c_uint32),
        ("unknown_word", c_uint32),
        ("last_opcode", c_char * 32),
    ]


_INT_POINTER = POINTER(c_int)
Signature = tuple[Any, list[Any]]
"""Result and arguments of a function."""
_FUNCTIONS: dict[str, Signature] = {
    "axl_cpu_step": (c_int, [c_int, c_int, c_int, c_longlong, _INT_POINTER, _INT_POINTER, _INT_POINTER]),
    "axl_mem_read": (c_int, [c_int]),
    "axl_mem_write": (None, [c_int, c_int, c_int]),
    "axl_stream_in": (None, [c_int, c_int]),
    "axl_stream_out": (None, [c_int, c_int]),
    "axl_accelerator": (None, [c_int]),
    "axl_accelerators": (c_int, [POINTER(c_char_p), c_uint32]),
    "axl_ram": (POINTER(c_uint8), []),
    "axl_ram_size": (c_uint64, []),
    "axl_configure": (c_int, [POINTER(Config)]),
    "axl_error": (c_char_p, []),
    "axl_job_begin": (c_int, []),
    "axl_cpu_start": (c_int, [c_uint32] * 5),
    "axl_cpu_run": (c_int, [c_uint64]),
    "axl_state": (POINTER(State), []),
    "axl_counters": (POINTER(Counters), []),
    "axl_class_counts": (None, [POINTER(c_uint64)]),
    "axl_stop_at_stale": (None, []),
    "axl_stale_left": (None, [c_uint32, c_uint32]),
    "axl_stale_count": (c_int, []),
    "axl_stale": (POINTER(Stale), [c_int]),
    "axl_watch": (None, [POINTER(Range), c_uint32, c_uint32, c_uint32]),
    "axl_called_from": (c_uint32, []),
    "axl_dma": (None, [POINTER(Dma)]),
    "axl_mistake_count": (c_int, []),
    "axl_mistake": (POINTER(Mistake), [c_int]),
    "axl_dma_state": (POINTER(DmaState), [c_int]),
    "axl_outside_count": (c_int, []),
    "axl_outside": (POINTER(Outside), [c_int]),
    "axl_pointers": (None, [POINTER(Pointer), c_uint32]),
    "axl_strayed_count": (c_int, []),
    "axl_strayed": (POINTER(Strayed), [c_int]),
    "axl_referee_begin": (None, [POINTER(Wait), c_uint32]),
    "axl_referee_end": (None, []),
    "axl_breach_count": (c_int, []),
    "axl_breach_at": (POINTER(Breach), [c_int]),
    "axl_access_count": (c_int, []),
    "axl_access_at": (POINTER(Access), [c_int]),
    "axl_answers_due": (c_uint64, [c_int]),
    "axl_file": (None, [c_char_p, c_uint32, c_char_p, c_uint64, c_uint64, c_uint32]),
    "axl_process_start": (c_int, [POINTER(Process)]),
    "axl_neighbours": (c_int, [POINTER(Neighbour), c_uint32, POINTER(Drive), c_uint32]),
    "axl_board_start": (c_int, [POINTER(BoardProgram)]),
    "axl_live_start": (c_int, [c_int, c_int]),
    "axl_taken": (POINTER(c_char), [POINTER(c_uint32)]),
    "axl_debug": (c_int, [c_int, c_int]),
    "axl_is_orphan": (c_int, []),
    "axl_debug_hang": (None, [c_char_p]),
    "axl_note_count": (c_int, []),
    "axl_note": (c_char_p, [c_int, POINTER(c_uint32)]),
    "axl_waits": (c_char_p, []),
    "axl_console": (c_char_p, []),
    "axl_section_at": (None, [c_uint32, c_int]),
    "axl_section_calls": (c_int, []),
    "axl_section_cycles": (POINTER(c_uint64), []),
    "axl_section_keep": (None, [c_uint32, c_uint32]),
    "axl_section_kept": (POINTER(c_uint8), []),
    "axl_section_stack": (c_uint32, []),
    "axl_lap_at": (None, [c_uint32]),
    "axl_lap_count": (c_int, []),
    "axl_laps": (POINTER(c_uint64), []),
    "axl_protocol_clear": (None, [POINTER(c_uint32), c_uint32, c_uint32]),
    "axl_protocol_op": (c_int, [c_char_p, c_int, c_uint32, c_int, POINTER(Action), c_uint32]),
    "axl_protocol_reset": (None, []),
    "axl_protocol": (POINTER(Protocol), []),
    "axl_protocol_begun": (c_uint64, [c_uint32]),
    "axl_protocol_text": (c_char_p, []),
}


def bind(library: Path, more: Mapping[str, Signature] | None = None) -> Any:
    """The library with typed functions, and `more` that others know. Loading the same path again gives the
    same instance."""
    loaded = ctypes.CDLL(str(library))
    for name, (result, arguments) in (_FUNCTIONS | dict(more or {})).items():
        function = getattr(loaded, name)
        function.restype = result
        function.argtypes = arguments
    return loaded


def teach_neighbours(library: Any, board: Board, blocks: Sequence[Block]) -> int:
    """Tell the core of the blocks that it has devices for. 0, or -1 as :func:`axl_error` says."""
    devices = [(block, kind) for block in blocks if (kind := kind_of(block)) and kind.settings]
    told = (Neighbour * len(devices))()
    for place, (block, kind) in zip(told, devices, strict=True):
        place.kind, place.base, place.bytes = block.ip.encode(), block.base, block.size
        (place.line,) = block.lines
        place.settings[:] = [*kind.settings(block, board), *[0] * SETTINGS][:SETTINGS]  # type: ignore[misc]
    every = sorted(
        ((drive, block.base) for block in blocks for drive in block.drives), key=lambda one: one[0].cycle
    )
    drives = [Drive(drive.cycle, base, drive.port, drive.levels) for drive, base in every]
    return int(library.axl_neighbours(told, len(devices), (Drive * len(drives))(*drives), len(drives)))


def config(board: Board, pages: Sequence[int], mmio_size: int) -> Config:
    """The board for the core; `pages`: addresses of the DMAs, none for a CPU without an accelerator."""
    caches, latency, fabric = board.caches, board.latency, board.fabric
    config = Config(
        cpu_hz=board.cpu_hz,
        fabric_hz=board.fabric_hz,
        l1i_size=caches.l1i_size,
        l1i_ways=caches.l1i_ways,
        l1d_size=caches.l1d_size,
        l1d_ways=caches.l1d_ways,
        l2_size=caches.l2_size,
        l2_ways=caches.l2_ways,
        replacement=("random", "lru").index(caches.replacement),
        pair_accesses=int(caches.pair_accesses),
        predictor_bits=latency.predictor_bits,
        l2_hit_cycles=latency.l2_hit,
        ddr_cycles=latency.ddr,
        writeback_cycles=latency.writeback,
        branch_miss_cycles=latency.branch_miss,
        uncached_read_cycles=latency.uncached_read,
        uncached_write_cycles=latency.uncached_write,
        private_read_cycles=latency.private_read,
        private_write_cycles=latency.private_write,
        maintenance_cycles=latency.maintenance,
        ocm_cycles=latency.ocm,
        preloads=latency.preloads,
        line_gap_cycles=latency.line_gap,
        ddr_gap_cycles=latency.ddr_gap,
        mmio_request_cycles=fabric.mmio_request,
        mmio_response_cycles=fabric.mmio_response,
        quantum_cycles=board.simulation.quantum,
        mmio_base=(c_uint32 * MOST)(*pages),
        mmio_pages=len(pages),
        mmio_size=mmio_size,
    )
    for index, name in enumerate(COST_CLASSES):
        config.cost[index] = round(getattr(board.cost, name) * COST_UNIT)
    config.dma_coherent = int(board.simulation.dma_buffers == "coherent")
    config.dma_allocates = int(board.coherent is not None and board.coherent.allocates)
    config.l1d_events = L1D_EVENTS.index(board.events.l1d_events)
    config.count_uncached = int(board.events.uncached)
    config.host = board.cpu.encode()
    config.line_bytes = board.line_bytes
    config.ocm_bytes = board.host.on_chip_bytes
    config.uncached_regions = len(board.uncached_memory)
    for number, region in enumerate(board.uncached_memory):
        config.uncached[number] = Region(region.address, region.bytes)
    if board.os is not None:
        config.has_os = 1
        for event in ("start", "syscall", "page_fault"):
            costs = getattr(board.os, event)
            setattr(config, event, OsCost(*(getattr(costs, name) for name in OS_COSTS)))
    return config
