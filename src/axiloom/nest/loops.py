"""What `axiloom nest` reads: C and Python as loops, and models (PyTorch, ONNX, linalg) as nests of loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from axiloom.base.errors import CompileError, UsageError
from axiloom.drivergen.dialects.mlir import context, parse, where
from axiloom.drivergen.passes.frontend.generalise import Generalise
from axiloom.isa.numerics.formats import format_of
from axiloom.nest.single import single
from axiloom.nests.program import Role
from axiloom.nests.program.loaded import Arrays, Loaded, Original
from axiloom.nests.read import linalg, python, registry
from axiloom.read import models
from axiloom.read.context.model import Model
from axiloom.read.context.referee import Referee, in_type

ACCEPTED = "FILE.c[:FUNCTION], FILE.mlir, FILE.onnx or MODEL.py:FUNCTION"


def load(text: str, defines: Mapping[str, str] | None = None, includes: Sequence[Path] = ()) -> Loaded:
    """The program that `text` names (`ACCEPTED`). A function of Python gives a program, or a torch module and
    its example inputs. Raises UsageError, CompileError."""
    path, function = registry.split(text)
    if includes and path.suffix != ".c":
        raise UsageError(f"{text}: -I gives headers of C")
    if path.suffix in (".mlir", ".onnx"):
        if defines:
            raise UsageError(f"{text}: -D gives sizes of C and of functions of Python")
        return of_model(models.load(str(path)), function)
    if path.suffix == ".py":
        result = python.result_of(path, function, defines)
        found = python.loaded(result)
        if found is not None:
            return found
        if not (isinstance(result, tuple) and len(result) == 2):
            raise UsageError(
                f"{text}: returned {type(result).__name__}; it must return {python.ACCEPTED}, or "
                f"(module, inputs) of PyTorch"
            )
        if defines:
            raise UsageError(f"{text}: -D gives sizes of functions that return a program")
        found = of_model(models.load(text), is_torch=True)
        # torch-mlir says `main`, which no function of a driver can be called
        return replace(found, program=replace(found.program, name=function))
    return registry.read(text, defines, includes)


def of_model(model: Model, function: str = "", *, is_torch: bool = False) -> Loaded:
    """The nests of a model: named ops as generic ones first. `is_torch`: f64 was put in by torch-mlir."""
    module = parse(model.mlir, model.name)
    try:
        if is_torch:
            single(module)
        Generalise().apply(context(), module)
    except ValueError as error:
        raise CompileError(f"{where(module)}: {error}") from error
    loaded = linalg.from_module(module, function, model.weights, model.name)
    return loaded if model.referee is None else replace(loaded, original=_original(loaded, model.referee))


def _original(loaded: Loaded, referee: Referee) -> Original:
    """The model itself, as a function of the program's arrays."""
    arrays = loaded.program.arrays
    inputs = [array.name for array in arrays if array.role is Role.IN and array.name not in loaded.contents]
    results = [array for array in arrays if array.role.is_result]

    def call(values: Arrays) -> Arrays:
        right = zip(results, referee.run([values[name] for name in inputs]), strict=True)
        return {array.name: in_type(value, format_of(array.number).numpy) for array, value in right}

    return Original(referee.name, call)
