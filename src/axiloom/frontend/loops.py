"""What `axiloom nest` reads: C and Python as loops, and models (PyTorch, ONNX, linalg) as nests of loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from axiloom import frontend
from axiloom.drivergen.dialects.mlir import context, parse, where
from axiloom.drivergen.passes.frontend.generalise import Generalise
from axiloom.errors import CompileError, UsageError
from axiloom.frontend.model import Model
from axiloom.frontend.single import single
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.read import linalg, python, registry

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
        return of_model(frontend.load(str(path)), function)
    if path.suffix == ".py":
        result = python.call(path, function, defines)
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
        from axiloom.frontend.pytorch import original

        found = of_model(frontend.load(text), is_torch=True)
        # torch-mlir says `main`, which no function of a driver can be called
        found = replace(found, program=replace(found.program, name=function))
        return replace(found, original=original(result, found))
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
    return linalg.from_module(module, function, model.weights, model.name)
