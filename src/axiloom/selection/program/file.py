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

    def program(self, document: Any) -> Program:
        if not isinstance(document, dict) or set(document) != _KEYS:
            raise self._fault("$", f"an object with {', '.join(sorted(_KEYS))} is wanted")
        arrays = tuple(
            self._array(f"$.arrays[{n}]", item) for n, item in enumerate(self._list(document, "arrays"))
        )
        names = [array.name for array in arrays]
        if len(set(names)) != len(names):
            raise self._fault("$.arrays", "two arrays have one name")
        commands = tuple(
            self._command(f"$.commands[{n}]", item) for n, item in enumerate(self._list(document, "commands"))
        )
        return Program(
            self._text(document["target"], "$.target"),
            self._text(document["name"], "$.name"),
            commands,
            arrays,
            self._constants(document["constants"], arrays),
        )

    def _list(self, document: dict[str, Any], key: str) -> list[Any]:
        if not isinstance(document[key], list):
            raise self._fault(f"$.{key}", "a list is wanted")
        return list(document[key])

    def _text(self, value: Any, where: str) -> str:
        if not isinstance(value, str) or not value or len(value) > 200:
            raise self._fault(where, "a text of 1 to 200 characters is wanted")
        return value

    def _natural(self, value: Any, where: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 62:
            raise self._fault(where, f"a natural number is wanted, not {str(value)[:40]}")
        return value

    def _integer(self, value: Any, where: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not -1 << 62 < value < 1 << 62:
            raise self._fault(where, f"an integer is wanted, not {str(value)[:40]}")
        return value

    def _array(self, where: str, fields: Any) -> HostArray:
        keys = {"name", "role", "shape", "number", "base", "memory"}
        if not isinstance(fields, dict) or set(fields) != keys:
            raise self._fault(where, f"an object with {', '.join(sorted(keys))} is wanted")
        if fields["role"] not in _ROLES:
            raise self._fault(f"{where}.role", f"one of {', '.join(_ROLES)} is wanted")
        if not isinstance(fields["shape"], list):
            raise self._fault(f"{where}.shape", "a list is wanted")
        try:
            number(str(fields["number"]))
        except GraphError as error:
            raise self._fault(f"{where}.number", str(error)) from None
        return HostArray(
            self._text(fields["name"], f"{where}.name"),
            fields["role"],
            tuple(self._natural(size, f"{where}.shape") for size in fields["shape"]),
            fields["number"],
            self._natural(fields["base"], f"{where}.base"),
            self._text(fields["memory"], f"{where}.memory"),
        )

    def _command(self, where: str, row: Any) -> Command:
        match row:
            case [str(instruction), dict(fields)]:
                return Command(
                    instruction, {name: self._integer(value, where) for name, value in fields.items()}
                )
        raise self._fault(where, "a list of an instruction and its fields is wanted")

    def _constants(self, document: Any, arrays: tuple[HostArray, ...]) -> dict[str, Any]:
        wanted = {array.name: array for array in arrays if array.role == "constant"}
        if not isinstance(document, dict) or set(document) != set(wanted):
            raise self._fault("$.constants", f"values of {', '.join(wanted) or 'nothing'} are wanted")
        constants = {}
        for name, declared in wanted.items():
            where, host = f"$.constants.{name}", number(declared.number).host
            try:
                raw = base64.b64decode(document[name], validate=True)
            except (TypeError, ValueError, binascii.Error):
                raise self._fault(where, "it is no base64") from None
            size = int(np.prod(declared.shape, dtype=np.int64)) * host.itemsize
            if len(raw) != size:
                raise self._fault(
                    where, f"{len(raw)} bytes; {declared.shape} of {declared.number} are {size}"
                )
            constants[name] = np.frombuffer(raw, host).reshape(declared.shape)
        return constants
