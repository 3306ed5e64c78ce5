"""From linalg to a C driver of a stream accelerator, on xDSL. It knows no RTL.

A room knows those above it in this list, not those below; each room's own docstring names its files:

- ``dialects/``: what the IR consists of, how text becomes IR, and errors that name an op and its place
- ``match/``: which ops an accelerator can execute, and the trait that says so; is one by hand right?
- ``nest/``: annotated ops as plans, and plans as drivers: transfers, packets, queues, tables
- ``c/``: IR to C99, and the `Driver` that is delivered
- ``problems/``: problems that the command line names in short (``matmul:MxNxK:dtype``), as MLIR
- ``cost/``: how long a way to use an accelerator takes, without a simulation
- ``passes/``: one pass a file: ``frontend/`` goes from linalg to ops with a trait, ``lowering/`` places their
  transfers and turns them into calls and loops
- ``pipeline/``: the passes in their order: `compile_mlir`, `compile_cpu`
- ``evaluate/``: the same function by NumPy: the reference that results are compared with
- ``network/``: whole networks, with ``network/passes/`` before they are cut into layers

``opt.py`` is the command ``axiloom-opt``, which runs any of the passes.
"""

from axiloom.drivergen.c.driver import Arg, Call, Driver
from axiloom.drivergen.evaluate.bounds import Bounds, bounds
from axiloom.drivergen.evaluate.reference import reference
from axiloom.drivergen.pipeline.compile import STAGES, compile_cpu, compile_mlir
from axiloom.drivergen.pipeline.pipelines import PIPELINES, default_pipeline, optimisations
from axiloom.drivergen.problems.conv import ConvProblem, conv_mlir
from axiloom.drivergen.problems.copies import CopyProblem
from axiloom.drivergen.problems.kinds import parse_workload
from axiloom.drivergen.problems.matmul import Problem, matmul_mlir, parse_problem

__all__ = [
    "PIPELINES",
    "STAGES",
    "Arg",
    "Bounds",
    "Call",
    "ConvProblem",
    "CopyProblem",
    "Driver",
    "Problem",
    "bounds",
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
