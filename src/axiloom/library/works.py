"""What is to be computed: a problem, a network, or loops, from a text or a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axiloom import drivergen
from axiloom.base import extras
from axiloom.base.errors import CompileError, UsageError
from axiloom.base.files import read_text
from axiloom.base.python_file import takes_arrays
from axiloom.drivergen.network import is_network, network_data_type
from axiloom.read import models
from axiloom.read.context.model import Model

if TYPE_CHECKING:
    from axiloom.nests.program import Program as Loops
    from axiloom.nests.program.loaded import Loaded
    from axiloom.nests.schedule import Schedule
    from axiloom.selection.program.program import Program

C, PROGRAM = ".c", ".program"
ACCEPTED = (
    "matmul:MxNxK[:int8|int16|int32] and its like, FILE.c[:FUNCTION], FILE.program, "
    f"{models.ACCEPTED}, a torch module"
)


@dataclass(frozen=True)
class Work:
    """`mlir`: one op, or a few; a network where it `is_network`. `loops`: of C or Python, in its place, with
    their `schedule` where they have one already."""

    name: str
    mlir: str = ""
    data_type: str | Sequence[str] = ""
    """Of the operands."""
    model: Model | None = None
    loops: Loaded | None = None
    schedule: Schedule | None = None
    program: Program | None = None
    """Commands of an instruction set."""
    said: tuple[str, ...] = ()
    """Of a quantised model: what it was compared with, and how close it is."""

    @property
    def is_network(self) -> bool:
        return self.model is not None

    def __repr__(self) -> str:
        return f"ax.read({self.name!r})"


def read(
    source: Any,
    inputs: Sequence[Any] | None = None,
    *,
    defines: Mapping[str, Any] | None = None,
    include: Sequence[str | Path] = (),
) -> Work:
    """A problem (``matmul:64x64x64``, ``conv:14_64_3_64_1:int8``), a model (``net.onnx``, ``net.mlir``,
    ``model.py:build``, or a torch module with its example `inputs`), or loops: ``gemm.c:gemm``, with
    `defines` for sizes and folders to `include`; ``gemm.py:gemm``, or the function itself; a nest; or
    commands of an instruction set (``attention.program``).

    Raises UsageError, CompileError or BuildError; all that a file has and nothing here reads is in one
    error.
    """
    if not isinstance(source, (str, Path)):
        if defines or include:
            raise UsageError("ax.read: `defines` and `include` are for files of C")
        return source.scheduled_work if hasattr(source, "scheduled_work") else _value(source, inputs)
    text = str(source)
    if inputs is not None:
        raise UsageError(f"{text}: `inputs` are the examples of a torch module")
    macros = {name: str(value) for name, value in (defines or {}).items()}
    if is_loops(text):
        return Work(text, loops=load(text, macros, [Path(folder) for folder in include]))
    if macros or include:
        raise UsageError(f"{text}: `defines` and `include` are for files of C")
    if text.endswith(PROGRAM):
        from axiloom.selection.program.file import read as commands

        return Work(text, program=commands(Path(text)))
    if not models.is_model(text):
        problem = drivergen.parse_workload(text)
        return Work(text, problem.mlir, problem.dtype)
    return of_model(text, models.load(text))


def is_loops(text: str) -> bool:
    """Whether `text` names loops whatever is asked of them: a file of C, or a function of Python that takes
    arrays. A function that builds a model or a program is called without any."""
    file, _, function = text.partition(":")
    return file.endswith(C) or (file.endswith(".py") and takes_arrays(Path(file), function))


def _loops(value: Any) -> Loaded | None:
    from axiloom.nests.read.python import loaded

    return loaded(value)


def _value(module: Any, inputs: Sequence[Any] | None) -> Work:
    """A function over arrays, a program in Python, or a torch module."""
    if find_spec("islpy") and (loaded := _loops(module)) is not None:
        return Work(loaded.program.name, loops=loaded)
    name = type(module).__name__
    if not hasattr(module, "named_parameters"):
        raise UsageError(f"ax.read({name}): accepted are {ACCEPTED}")
    if inputs is None:
        raise UsageError(f"ax.read({name}): a torch module needs its example inputs: ax.read(module, (x,))")
    extras.require("torch_mlir", name)
    from axiloom.read.pytorch.linalg import import_module

    return of_model(name, import_module(module, tuple(inputs), name))


def of_model(name: str, model: Model) -> Work:
    """A network where it is one, or where a referee says what it means: networks are compared with it."""
    if is_network(model.mlir, name) or model.referee is not None:
        return Work(name, model.mlir, network_data_type(model.mlir, model.weights, name), model)
    args = drivergen.compile_cpu(model.mlir, name=name).args
    if not args:
        raise CompileError(f"{name}: its function has no arguments: there is nothing to offload")
    return Work(name, model.mlir, args[0].dtype)


def load(source: str, sizes: Mapping[str, str], includes: Sequence[Path] = ()) -> Loaded:
    """The program, without faults. Raises CompileError with every fault, UsageError, BuildError."""
    try:
        import clang.cindex  # noqa: F401
        import islpy  # noqa: F401
    except ImportError as error:
        from axiloom.base.errors import BuildError

        raise BuildError(
            f"nest: needs {error.name}, which is not installed: {extras.install('nests')}"
        ) from None
    from axiloom.nest import loops
    from axiloom.nests.poly.checks import faults

    loaded = loops.load(source, sizes, includes)
    if wrong := faults(loaded.program):
        raise CompileError("\n".join(wrong))
    return loaded


def scheduled(program: Loops, file: Path | None) -> Schedule:
    """`program` by the schedule in `file`. Raises ScheduleError with its line."""
    from axiloom.nests.schedule import Schedule
    from axiloom.nests.schedule.replay import replay

    if file is None:
        return Schedule.of(program)
    return replay(program, read_text(str(file)), str(file))
