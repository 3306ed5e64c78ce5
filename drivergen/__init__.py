"""From linalg to a C driver of a stream accelerator, on xDSL.

- ``dialect.py``: the `accel` dialect: the trait of an op, and transfers; ``channels.py``: whole channels
- ``mlir.py``: parsing with locations, errors that name an op and its place
- ``match.py``: is an op a matmul, and which of its loops and operands is which
- ``trait.py``: the trait as values
- ``passes/``: one pass a file, in the order generalise, bufferise, annotate, tile, place_flow; of what the
  pipeline has, cache_tiling, residency, coalesce_loops, coalesce_transfers, keep_packed, double_buffer,
  specialise_copies or overlap_edges, pack_constants, flatten_tiles, zero_copy; lower_to_loops, lower_queue,
  lower_to_calls; of accelerators that round, fuse_epilogue and prepare_channels in front
- ``nest.py``: a loop nest with its opcodes as those passes see it; ``layout.py``: where packets lie in the
  window; ``locality.py``: what misses the caches; ``queue.py``: ops for scatter-gather; ``packed.py``:
  constant operands as drivers have them; ``views.py``: which array a view is of; ``stream_words.py``: what an
  op moves over the streams
- ``emit_c.py``: C99; ``driver.py``: what is delivered, and the harness around it
- ``pipeline.py``: `compile_mlir` and `compile_cpu`; ``opt.py``: the command ``axiloom-opt``
- ``reference.py``: the same function by NumPy, independent of all of the above but the parser
- ``problems/``: what the command line names in short, ``matmul:MxNxK:dtype``; ``copy_driver.py``: ``copy:N``,
  and the drivers for it
"""

from axiloom.drivergen.c.copy_driver import CopyProblem
from axiloom.drivergen.c.driver import Arg, Call, Driver
from axiloom.drivergen.evaluate.reference import reference
from axiloom.drivergen.pipeline.compile import (
    PIPELINES,
    STAGES,
    compile_cpu,
    compile_mlir,
    default_pipeline,
    optimisations,
)
from axiloom.drivergen.problems.conv import ConvProblem, conv_mlir
from axiloom.drivergen.problems.kinds import parse_workload
from axiloom.drivergen.problems.matmul import Problem, matmul_mlir, parse_problem

__all__ = [
    "PIPELINES",
    "STAGES",
    "Arg",
    "Call",
    "ConvProblem",
    "CopyProblem",
    "Driver",
    "Problem",
    "compile_cpu",
    "compile_mlir",
    "conv_mlir",
    "default_pipeline",
    "matmul_mlir",
    "optimisations",
    "parse_problem",
    "parse_workload",
    "reference",
]
