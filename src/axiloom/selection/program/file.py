"""Programs as files: ``NAME.program``, JSON that people can read, one command a line.

Constants are the bytes of their host values in base64. What is read is checked: roles, shapes, numbers, and
that each constant has its bytes. That commands are of the target, and legal, says who encodes them.
"""

from __future__ import annotations

import base64
import binascii
import json
from pathlib import Path
from typing import Any

import numpy as np

from axiloom.base.errors import UsageError
from axiloom.base.files import read_json
from axiloom.graph.graph import GraphError
from axiloom.graph.numbers import number
from axiloom.selection.program.program import Command, HostArray, Program

ENDING = ".program"
MOST_BYTES = 1 << 28
"""Of a file."""
_ROLES = ("in", "out", "constant", "local")
_KEYS = {"target", "name", "arrays", "commands", "constants"}


def write(program: Program) -> str:
    """The text of a file; the same for the same program."""
    arrays = [
        {
            "name": array.name,
            "role": array.role,
            "shape": list(array.shape),
            "number": array.number,
            "base": array.base,
            "memory": array.memory,
        }
        for array in program.arrays
    ]
    commands = [[command.instruction, dict(command.fields)] for command in program.commands]
    constants = {
        name: base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()
        for name, values in sorted(program.constants.items())
    }
    lines = [f' "target": {json.dumps(program.target)},', f' "name": {json.dumps(program.name)},']
    for key, items in (("arrays", arrays), ("commands", commands)):
        rows = ",\n".join(f"  {json.dumps(item)}" for item in items)
        lines.append(f' "{key}": [\n{rows}\n ],')
    lines.append(f' "constants": {json.dumps(constants, indent=2)}')
    return "{\n" + "\n".join(lines) + "\n}\n"


def read(path: Path) -> Program:
    """Raises UsageError with the place of what is wrong."""
    return _Reader(str(path)).program(read_json(path, "a program is an object", MOST_BYTES))


class _Reader:
    def __init__(self, place: str) -> None:
        self.place = place

    def _fault(self, where: str, why: str) -> UsageError:
        return UsageError(f"{self.place}: {where}: {why}")

    def program(self, given: Any) -> Program:
        if not isinstance(given, dict) or set(given) != _KEYS:
            raise self._fault("$", f"an object with {', '.join(sorted(_KEYS))} is wanted")
        arrays = tuple(
            self._array(f"$.arrays[{n}]", one) for n, one in enumerate(self._list(given, "arrays"))
        )
        names = [array.name for array in arrays]
        if len(set(names)) != len(names):
            raise self._fault("$.arrays", "two arrays have one name")
        commands = tuple(
            self._command(f"$.commands[{n}]", one) for n, one in enumerate(self._list(given, "commands"))
        )
        return Program(
            self._text(given["target"], "$.target"),
            self._text(given["name"], "$.name"),
            commands,
            arrays,
            self._constants(given["constants"], arrays),
        )

    def _list(self, given: dict[str, Any], key: str) -> list[Any]:
        if not isinstance(given[key], list):
            raise self._fault(f"$.{key}", "a list is wanted")
        return list(given[key])

    def _text(self, given: Any, where: str) -> str:
        if not isinstance(given, str) or not given or len(given) > 200:
            raise self._fault(where, "a text of 1 to 200 characters is wanted")
        return given

    def _natural(self, given: Any, where: str) -> int:
        if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given < 1 << 62:
            raise self._fault(where, f"a natural number is wanted, not {str(given)[:40]}")
        return given

    def _integer(self, given: Any, where: str) -> int:
        if not isinstance(given, int) or isinstance(given, bool) or not -1 << 62 < given < 1 << 62:
            raise self._fault(where, f"an integer is wanted, not {str(given)[:40]}")
        return given

    def _array(self, where: str, given: Any) -> HostArray:
        keys = {"name", "role", "shape", "number", "base", "memory"}
        if not isinstance(given, dict) or set(given) != keys:
            raise self._fault(where, f"an object with {', '.join(sorted(keys))} is wanted")
        if given["role"] not in _ROLES:
            raise self._fault(f"{where}.role", f"one of {', '.join(_ROLES)} is wanted")
        if not isinstance(given["shape"], list):
            raise self._fault(f"{where}.shape", "a list is wanted")
        try:
            number(str(given["number"]))
        except GraphError as error:
            raise self._fault(f"{where}.number", str(error)) from None
        return HostArray(
            self._text(given["name"], f"{where}.name"),
            given["role"],
            tuple(self._natural(size, f"{where}.shape") for size in given["shape"]),
            given["number"],
            self._natural(given["base"], f"{where}.base"),
            self._text(given["memory"], f"{where}.memory"),
        )

    def _command(self, where: str, given: Any) -> Command:
        match given:
            case [str(instruction), dict(fields)]:
                return Command(
                    instruction, {name: self._integer(value, where) for name, value in fields.items()}
                )
        raise self._fault(where, "a list of an instruction and its fields is wanted")

    def _constants(self, given: Any, arrays: tuple[HostArray, ...]) -> dict[str, Any]:
        wanted = {array.name: array for array in arrays if array.role == "constant"}
        if not isinstance(given, dict) or set(given) != set(wanted):
            raise self._fault("$.constants", f"values of {', '.join(wanted) or 'nothing'} are wanted")
        found = {}
        for name, one in wanted.items():
            where, host = f"$.constants.{name}", number(one.number).host
            try:
                raw = base64.b64decode(given[name], validate=True)
            except (TypeError, ValueError, binascii.Error):
                raise self._fault(where, "it is no base64") from None
            size = int(np.prod(one.shape, dtype=np.int64)) * host.itemsize
            if len(raw) != size:
                raise self._fault(where, f"{len(raw)} bytes; {one.shape} of {one.number} are {size}")
            found[name] = np.frombuffer(raw, host).reshape(one.shape)
        return found
