"""Going through a planned driver step by step: caches line by line, DMA and device transfer by transfer.

Some milliseconds for what takes compiler and simulator some seconds. The code is C++ beside this file, on the
simulator's own model of the caches (``cosim/native/memory/memory.hpp``); it is compiled at first use.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from ctypes import POINTER, Structure, c_double, c_int32
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axiloom import boards
from axiloom.base import processes
from axiloom.base.cache import cached_build, content_hash
from axiloom.base.errors import BuildError
from axiloom.cosim import native
from axiloom.cosim.core import NATIVE, compiler
from axiloom.drivergen.cost import plans

if TYPE_CHECKING:
    from axiloom.isa import AcceleratorSpec

LIBRARY = "libaxl_replay.so"
HERE = Path(__file__).parent
_FLAGS = ("-std=c++17", "-O3", "-fPIC", "-shared", "-Wall", "-Wextra")

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


@cache
def library() -> Any:
    """The compiled replay. BuildError without a C++ compiler."""
    sources = sorted(
        path for path in (*HERE.iterdir(), *NATIVE.rglob("*")) if path.suffix in (".cpp", ".hpp", ".h")
    )
    cxx = compiler()

    def build(folder: Path) -> None:
        command = [cxx, *_FLAGS, f"-I{NATIVE}", str(HERE / "replay.cpp"), "-o", str(folder / LIBRARY)]
        done = processes.run(command)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error" in line]
            raise BuildError(
                f"the replay does not compile with {cxx}: {(errors or [done.stderr.strip()])[0]}"
            )

    path = cached_build("replay", content_hash(list(_FLAGS), cxx, *sources), build) / LIBRARY
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
        self._library = library()
        board = boards.through(board, spec.dma.coherent)
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
            spec.dma.input_address,
            spec.dma.output_address,
            spec.dma.input_buffer_size // 4,
            spec.beat_words,
            spec.dma.scatter_gather,
        )
        self._costs = (c_double * len(COSTS))(*(costs.get(name, 0.0) for name in COSTS))

    @staticmethod
    def fits(plan: plans.Plan) -> bool:
        """Whether there is room for the plan in what it is handed over with."""
        return len(plan.trips) <= LOOPS and len(plan.operands) <= OPERANDS and len(plan.stages) <= STAGES

    def run(self, plan: plans.Plan, calls: int = 1) -> Estimate:
        """`calls` of the driver in one program, of which `CALLS` are gone through at most."""
        held = sum(operand.rows * operand.cols * operand.element for operand in plan.operands)
        through = min(calls, CALLS if held <= self._warm_bytes else 1)
        counts, parts = (c_double * len(COSTS))(), (c_double * len(PARTS))()
        returned = (c_double * through)()
        cycles = self._library.axl_replay(
            *(_structure(plan), self._machine, self._config, self._costs),
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


def _structure(plan: plans.Plan) -> _Plan:
    structure = _Plan(loops=len(plan.trips), operands=len(plan.operands), stages=len(plan.stages))
    structure.trips[: len(plan.trips)] = plan.trips
    for name in _PACKETS:
        setattr(structure, name, int(getattr(plan, name)))
    for to, operand in zip(structure.operand, plan.operands, strict=False):
        for name, value in vars(operand).items():
            if isinstance(value, tuple):
                getattr(to, name)[: len(value)] = value
            else:
                setattr(to, name, value)
    for at, stage in zip(structure.stage, plan.stages, strict=False):
        for name, value in (vars(stage) | vars(stage.leaving)).items():
            if name != "leaving":
                setattr(at, name, int(value))
    return structure
