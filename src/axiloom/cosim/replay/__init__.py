"""Going through a planned driver step by step: caches line by line, DMA and device transfer by transfer.

Some milliseconds for what takes compiler and simulator some seconds. The code is C++ beside this file, on the
simulator's own model of the caches (``cosim/native/memory/memory.hpp``); it is compiled at first use.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from ctypes import POINTER, Structure, c_double, c_int32
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

from axiloom import boards
from axiloom.base import processes
from axiloom.base.cache import cached_build, content_hash
from axiloom.base.errors import BuildError
from axiloom.cosim import core, native, prebuilt
from axiloom.cosim.core import NATIVE, compiler
from axiloom.drivergen.cost.leaving import leaving_of
from axiloom.drivergen.cost.products import computes, regions, tile_of
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS
from axiloom.plan import Command, Plan, Queue, Receive, Region, Send, Window, Words
from axiloom.plan.caches import LINE_BYTES
from axiloom.plan.figures import commands
from axiloom.plan.numbers import ceil_div
from axiloom.plan.packets import innermost

LIBRARY = "libaxl_replay.so"
HERE = Path(__file__).parent
FLAGS = ("-std=c++17", "-O3", "-fPIC", "-shared", "-Wall", "-Wextra")

LOOPS, OPERANDS, STAGES = 4, 4, 12

COSTS = (
    *("start", "packet", "iteration", "head_word", "send", "look", "arm", "take"),
    *("put", "put_row", "put_chunk", "edge", "edge_row", "edge_chunk", "edge_rest", "edge_zero", "turned"),
    *("clean", "clean_row", "clean_long_row", "clean_longer_row", "clean_line", "discard", "discard_line"),
    *("add", "add_row", "add_chunk", "prefetch"),
    *("get", "get_row", "get_chunk", "get_quad", "get_rest", "get_turned"),
    *("queue_word", "queue_rows", "queue_receive", "tell", "pad_tile", "pad_row", "pad_word", "pad_zero"),
    *("table", "piece", "take_tile"),
)
"""What the CPU's code does, each with its cost in CPU cycles; in the order of ``enum Cost``."""
CALLS = 3
"""Calls of one driver that are gone through; each later one takes as long as the last of them."""
WARM = 2
"""How many times as large as the last cache arrays may be. A later call finds nothing of larger ones, so the
first one, without its start, says how long it takes."""
PARTS = ("other", "puts", "edges", "cleans", "access", "polls", "discards", "adds", "gets", "end")
"""What the CPU is busy with, in the order of ``enum Part``."""

FIRST_WORD, COMPUTES, STORES, ENDED, FETCH = 8.0, 6.0, 12.0, 8.0, 34.0
"""Fabric cycles, besides the memory's latency: from the start of a transfer to its first word; from the last
word of a tile to the array's first multiply-add; from the last one to the first word of C; from its last word
to the end of the transfer; from telling the DMA of a descriptor to its transfer."""
MATRICES_AT = {False: 0x108080, True: 0x1084C0}
"""Where the arrays of a bare-metal program begin; with scatter-gather behind the queue's."""
ADDED, COPIED, WRITTEN = range(3)
"""The CPU adds a tile of results to its place, or copies it there; or the DMA writes it there."""
REGISTER = 2.0
"""Of an access to a register, besides the way to it and back."""


class _Operand(Structure):
    _fields_ = [
        *((name, c_int32) for name in ("base", "element", "row_stride", "col_stride")),
        *((name, c_int32) for name in ("rows", "cols", "tile_rows", "tile_cols")),
        ("row_step", c_int32 * LOOPS),
        ("col_step", c_int32 * LOOPS),
        *((name, c_int32) for name in ("words", "overlap_rows", "overlap_cols", "taken")),
    ]


class _Stage(Structure):
    _fields_ = [
        *(
            (name, c_int32)
            for name in ("level", "behind", "head", "operand", "compute", "receives", "moved_by")
        ),
        *((name, c_int32) for name in ("bands", "across", "lines")),
    ]


_PACKETS = ("queued", "level", "count", "chunks", "apart", "copies", "parts", "tabled")


class _Plan(Structure):
    _fields_ = [
        ("loops", c_int32),
        ("trips", c_int32 * LOOPS),
        *((name, c_int32) for name in _PACKETS),
        ("operands", c_int32),
        ("stages", c_int32),
        ("operand", _Operand * OPERANDS),
        ("stage", _Stage * STAGES),
    ]


class _Machine(Structure):
    _fields_ = [
        *(
            (name, c_double)
            for name in ("ratio", "access", "first_word", "computes", "stores", "ended", "fetch")
        ),
        *((name, c_int32) for name in ("in", "out", "in_words", "beat_words", "scatter_gather")),
    ]


@dataclass(frozen=True)
class Estimate:
    """Of a run, in CPU cycles; negative if the driver would wait for ever.

    `counts`: how often each of `COSTS` was paid; `parts`: time by `PARTS`; `returned`: when each call has.
    All three are of those calls that were gone through. `later`: of a call that finds the caches as the one
    before has left them.
    """

    cycles: float
    counts: dict[str, float]
    parts: dict[str, float]
    returned: tuple[float, ...]
    later: float


def portable_key() -> str:
    """Hash of what a built replay is of, wherever it was built."""
    files = [path for path in HERE.iterdir() if path.suffix in (".cpp", ".hpp")]
    return content_hash(list(FLAGS), *sorted(files), *core.sources())


def _built() -> Path:
    if path := prebuilt.find(LIBRARY, portable_key()):
        return path
    cxx = compiler()

    def build(folder: Path) -> None:
        command = [cxx, *FLAGS, f"-I{NATIVE}", str(HERE / "replay.cpp"), "-o", str(folder / LIBRARY)]
        done = processes.run(command)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error" in line]
            raise BuildError(
                f"the replay does not compile with {cxx}: {(errors or [done.stderr.strip()])[0]}"
            )

    return cached_build("replay", content_hash(cxx, portable_key()), build) / LIBRARY


@cache
def library() -> Any:
    """The compiled replay. BuildError without a C++ compiler."""
    path = _built()
    loaded = ctypes.CDLL(str(path))
    loaded.axl_replay.restype = c_double
    doubles = POINTER(c_double)
    loaded.axl_replay.argtypes = [
        *(POINTER(kind) for kind in (_Plan, _Machine, native.Config)),
        *(doubles, doubles, doubles),
        c_int32,
        doubles,
    ]
    return loaded


class Replay:
    """Estimates for one accelerator on one board; `costs` by the names of `COSTS`, others are free."""

    def __init__(self, spec: AcceleratorSpec, board: boards.Board, costs: Mapping[str, float]) -> None:
        self._spec, self._library = spec, library()
        board = boards.through(board, spec.link.dma.coherent)
        self._config = native.config(board, [], 0)
        self._warm_bytes = WARM * board.last_cache[0]
        self._start = costs.get("start", 0.0)
        fabric = board.fabric
        self._machine = _Machine(
            board.cpu_hz / board.fabric_hz,
            fabric.mmio_request + fabric.mmio_response + REGISTER,
            fabric.ddr_read + FIRST_WORD,
            COMPUTES,
            STORES,
            fabric.ddr_write + ENDED,
            FETCH,
            spec.link.dma.input_address,
            spec.link.dma.output_address,
            spec.link.dma.input_buffer_size // 4,
            spec.link.beat_words,
            spec.link.dma.scatter_gather,
        )
        self._costs = (c_double * len(COSTS))(*(costs.get(name, 0.0) for name in COSTS))

    @staticmethod
    def fits(plan: Plan) -> bool:
        """Whether there is room for the plan in what it is handed over with."""
        stages = (max(1, sum(isinstance(move, Send) for move in c.moves)) for c, _ in commands(plan))
        return len(plan.levels) <= LOOPS and len(regions(plan)) <= OPERANDS and sum(stages) <= STAGES

    def run(self, plan: Plan, calls: int = 1) -> Estimate:
        """`calls` of the driver in one program, of which `CALLS` are gone through at most."""
        arrays = regions(plan).values()
        held = sum(prod(span.size for span in region.spans) * region.bits // 8 for region in arrays)
        through = min(calls, CALLS if held <= self._warm_bytes else 1)
        counts, parts = (c_double * len(COSTS))(), (c_double * len(PARTS))()
        returned = (c_double * through)()
        cycles = self._library.axl_replay(
            *(_structure(self._spec, plan), self._machine, self._config, self._costs),
            *(counts, parts, through, returned),
        )
        later = returned[-1] - (returned[-2] if through > 1 else self._start)
        return Estimate(
            cycles if cycles < 0 else cycles + (calls - through) * later,
            dict(zip(COSTS, counts, strict=True)),
            dict(zip(PARTS, parts, strict=True)),
            tuple(returned),
            later,
        )


def _structure(spec: AcceleratorSpec, plan: Plan) -> _Plan:
    """A plan of a matrix product as the replay has it."""
    trips, own = plan.trips, regions(plan)
    packets = plan.transport.packets if isinstance(plan.transport, Window) else innermost(trips)
    whole = _Plan(
        loops=len(trips),
        trips=tuple(trips),
        queued=plan.is_queued,
        **{name: getattr(packets, name) for name in ("level", "count", "chunks", "apart", "copies")},
        parts=max(1, len(packets.parts)),
        tabled=isinstance(plan.transport, Queue) and plan.transport.table,
        operands=len(own),
    )
    results = {move.region.array: move for _, _, move, _ in plan.items if isinstance(move, Receive)}
    base = MATRICES_AT[spec.link.dma.scatter_gather]
    for at, operand in enumerate(spec.data):
        region = own[operand]
        whole.operand[at] = _operand(plan, region, base, results.get(operand))
        base += ceil_div(prod(span.size for span in region.spans) * region.bits // 8, LINE_BYTES) * LINE_BYTES
    stages = list(_stages(spec, plan))
    whole.stages = len(stages)
    whole.stage[: len(stages)] = stages
    return whole


def _operand(plan: Plan, region: Region, base: int, result: Receive | None) -> _Operand:
    """Rows and columns as they travel."""
    rows, cols = (region.spans[axis] for axis in region.order)
    steps = [
        tuple(dict(span.loops).get(level.name, 0) // span.tile for level in plan.levels)
        for span in (rows, cols)
    ]
    taken = ADDED if result is None or result.add else WRITTEN if result.in_place else COPIED
    return _Operand(
        *(base, region.bits // 8, rows.stride, cols.stride, rows.size, cols.size, rows.tile, cols.tile),
        *steps,
        *(rows.tile * cols.tile * region.bits // WORD_BITS, rows.shift, cols.shift, taken),
    )


def _stages(spec: AcceleratorSpec, plan: Plan) -> Iterator[_Stage]:
    """What each command stages for one tile: words of its head; what the device does behind the last one."""
    tile = tile_of(spec, plan)
    cycles, leaving = prod(tile.values()) // spec.macs, leaving_of(spec, tile)
    names = [level.name for level in plan.levels]
    operands = list(spec.data)
    for number, behind, command in _in_text(plan):
        head = sum(move.words for move in command.moves if isinstance(move, Words))
        sends = [move for move in command.moves if isinstance(move, Send)]
        back = [operands.index(str(move.region.array)) for move in command.moves if isinstance(move, Receive)]
        for at, send in enumerate(sends or [None]):
            last = at + 1 >= len(sends)
            moved = send.loops if send else ()
            yield _Stage(
                *(number, behind, 0 if at else head, operands.index(str(send.region.array)) if send else -1),
                cycles if last and computes(spec, command) else 0,
                back[0] if last and back else -1,
                sum(1 << loop for loop, name in enumerate(names[: number + 1]) if name in moved),
                *(leaving.bands, leaving.across, leaving.lines),
            )


def _in_text(plan: Plan) -> Iterator[tuple[int, bool, Command]]:
    """The commands in the order of the text, each with the number of its loop."""
    for number, level in enumerate(plan.levels):
        yield from ((number, False, command) for command in level.pre)
    for number, level in reversed(list(enumerate(plan.levels))):
        yield from ((number, True, command) for command in level.post)
