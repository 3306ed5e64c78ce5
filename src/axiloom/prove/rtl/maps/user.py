"""A state map from a file, for Verilog that we did not write.

::

    {
      "state": [
        {"register": "b[{i}]", "for": {"i": 64}, "holds": "B[i]"},
        {"register": "acc[{n}]", "for": {"n": 8}, "at": "row.0",
         "holds": "sum(A[k] * B[8 * k + n] for k in range(at))"}
      ],
      "error": "debug_error",
      "product": "B*A"
    }

`register` names a register or a word of a memory, as the module declares it (`low`: its lowest bit that is
meant); `for` repeats the line, and its names stand for numbers in the other fields; `at` limits it to an
action of an opcode that takes words (``row.0``: the first action of `row`). `holds` is made of elements of
the operands, numbers, ``+ - *``, ``sum`` and `at`, the words that the action has taken. While a tile comes,
its first elements are the new ones; those of a result are its first values until something was computed.
`error` names an output with the model's error; without it nothing is claimed of words that the model refuses.
`product`: the order of factors in the Verilog, where it is not ``A*B``.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import product as every
from pathlib import Path
from typing import Any

import z3

from axiloom.base.errors import BuildError, SpecError
from axiloom.base.files import read_text
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.rtl import RtlPorts
from axiloom.isa.formal.beats import model_of
from axiloom.isa.kernels.forms import MATMUL
from axiloom.prove.rtl.maps.device import Device, Link, element
from axiloom.prove.rtl.maps.laid import settings
from axiloom.prove.rtl.maps.of_matmul import shapes
from axiloom.prove.rtl.maps.ours import check, memories, steps
from axiloom.prove.rtl.terms import machine as machines

KEYS = {"state": list, "error": str, "product": str}
LINE = {"register": str, "for": dict, "at": str, "holds": str, "low": int}
ORDERS = ("A*B", "B*A")


def device_of(spec: AcceleratorSpec, rtl: UserRtl, file: Path) -> Device:
    """The user's module under `spec`. Raises BuildError for a file or a module that is not understood."""
    text = read_text(file, BuildError)
    told = _read(file, text)
    check(spec)
    if spec.form != MATMUL:
        raise SpecError(
            [f"{spec.name}: --map is for accelerators of the form {MATMUL.name}, not {spec.form.name}"]
        )
    rtl.check(spec)
    if spec.link.rtl != RtlPorts() or len(rtl.clocks) > 1 or not rtl.has(f"{rtl.input}tvalid"):
        what = "a proof needs one clock, streams in lower case, and nothing in `rtl` of the specification"
        raise BuildError(f"user RTL module {rtl.top}: {what}: write a wrapper")
    if rtl.reset is None:
        raise BuildError(f"user RTL module {rtl.top}: no reset: its first state is not known")
    sources = tuple((path.name, read_text(path, BuildError)) for path in rtl.files)
    machine = machines.read(sources, rtl.top)
    beats = model_of(spec, products="uninterpreted")
    swapped = told.get("product", ORDERS[0]) == ORDERS[1]
    bits = spec.data_type.bits

    def multiply(a: Any, b: Any) -> Any:
        wide = [z3.SignExt(32 - bits, one) if bits < 32 else one for one in (a, b)]
        return machines.product(32)(*(reversed(wide) if swapped else wide))

    numbers = steps(beats)
    lines = [
        _Line(file, number, one, numbers, multiply, machine, bits) for number, one in enumerate(told["state"])
    ]

    def links(control: Mapping[str, int], state: Mapping[str, Any], _registers: Any) -> Iterator[Link]:
        if control["error"]:
            return
        if loading := beats.loading(control["step"]):  # its first elements have come
            mixed, arriving = state[loading], state[f"{loading}_in"]
            for index in range(control["at"] * spec.link.stream_width // bits):
                mixed = z3.Store(mixed, z3.BitVecVal(index, mixed.domain()), element(arriving, index))
            state = {**state, loading: mixed}
        for line in lines:
            yield from line.links(control, state)

    device = Device(
        rtl.top,
        spec,
        beats.ila,
        machine,
        sources,
        links,
        multiply,
        source=rtl.input,
        output=rtl.output,
        reset=rtl.reset,
        reset_active_low=rtl.reset_active_low,
        error=told.get("error"),
        sizes=spec.dims if spec.tile.flexible else (),
        settings=settings(beats, shapes(spec)) if spec.tile.flexible else {},
        bits=bits,
        clock=rtl.clock,
        ports=tuple(port.name for port in rtl.ports if port.is_input),
        map_text=text,
        **memories(beats),
    )
    if device.error is not None and device.error not in machine.outputs:
        raise BuildError(f"{file}: error: {rtl.top} has no output {device.error}")
    return device


def _read(file: Path, text: str) -> dict[str, Any]:
    try:
        told = json.loads(text)
    except json.JSONDecodeError as error:
        raise BuildError(f"{file}: not JSON: {error}") from None
    if not isinstance(told, dict):
        raise BuildError(f"{file}: must be an object with {', '.join(KEYS)}")
    _check(f"{file}", told, KEYS, ("state",))
    if told.get("product", ORDERS[0]) not in ORDERS:
        raise BuildError(f"{file}: product must be {' or '.join(ORDERS)}, not {told['product']!r}")
    for number, line in enumerate(told["state"]):
        if not isinstance(line, dict):
            raise BuildError(f"{file}: state[{number}] must be an object with {', '.join(LINE)}")
        _check(f"{file}: state[{number}]", line, LINE, ("register", "holds"))
    return told


def _check(where: str, told: Mapping[str, Any], keys: Mapping[str, type], needed: tuple[str, ...]) -> None:
    for key, value in told.items():
        if key not in keys:
            raise BuildError(f"{where}: unknown key {key!r}; known are {', '.join(keys)}")
        if not isinstance(value, keys[key]):
            raise BuildError(f"{where}: {key} must be of type {keys[key].__name__}, not {value!r}")
    for key in needed:
        if key not in told:
            raise BuildError(f"{where}: {key} is missing")


class _Line:
    """A line of `state`."""

    def __init__(
        self,
        file: Path,
        number: int,
        told: Mapping[str, Any],
        numbers: Mapping[str, int],
        multiply: Callable[[Any, Any], Any],
        machine: machines.Machine,
        element: int,
    ) -> None:
        self.where, self.multiply, self.low = f"{file}: state[{number}]", multiply, told.get("low", 0)
        self.register = told["register"]
        at = told.get("at")
        if at is not None and at not in numbers:
            raise BuildError(
                f"{self.where}: at: no action {at!r} takes words; there are {', '.join(numbers)}"
            )
        self.step = None if at is None else numbers[at]
        try:
            self.expression = ast.parse(told["holds"], mode="eval").body
        except SyntaxError as error:
            raise BuildError(f"{self.where}: holds: {error.msg}: {told['holds']!r}") from None
        self.loops = told.get("for", {})
        for name, count in self.loops.items():
            if not isinstance(count, int) or count < 1:
                raise BuildError(f"{self.where}: for: {name} must be a number from 1, not {count!r}")
        first = self._named(dict.fromkeys(self.loops, 0))
        if first not in machine.parts:
            bases = sorted({name.partition("[")[0] for name in machine.parts})
            raise BuildError(
                f"{self.where}: {machine.top} has no register {first}; it has {', '.join(bases)}"
            )

        bits = {"C": 32}
        anything = {o: z3.Array(o, z3.BitVecSort(16), z3.BitVecSort(bits.get(o, element))) for o in "ABC"}
        self._term(self.expression, dict.fromkeys(self.loops, 0) | {"at": 0}, anything)  # is it understood?

    def _named(self, numbers: Mapping[str, int]) -> str:
        try:
            return str(self.register.format(**numbers))
        except (KeyError, IndexError, ValueError) as error:
            raise BuildError(f"{self.where}: register: {self.register!r}: no such name: {error}") from None

    def links(self, control: Mapping[str, int], state: Mapping[str, Any]) -> Iterator[Link]:
        if self.step is not None and control["step"] != self.step:
            return
        for values in every(*(range(count) for count in self.loops.values())):
            known = dict(zip(self.loops, values, strict=True))
            term = self._term(self.expression, known | {"at": control["at"]}, state)
            term = z3.BitVecVal(term, 32) if isinstance(term, int) else term
            yield Link(self._named(known), self.low, term, z3.BoolVal(True))

    def _term(self, node: ast.AST, names: Mapping[str, int], state: Mapping[str, Any]) -> Any:
        def of(one: ast.AST) -> Any:
            return self._term(one, names, state)

        match node:
            case ast.Constant(value=int(value)):
                return value
            case ast.Name(id=name) if name in names:
                return names[name]
            case ast.Subscript(value=ast.Name(id=("A" | "B" | "C") as operand), slice=index):
                number = of(index)
                if not isinstance(number, int):
                    raise BuildError(f"{self.where}: holds: an element's number must be known")
                return element(state[operand], number)
            case ast.BinOp(left=left, op=operation, right=right):
                return self._joined(operation, of(left), of(right))
            case ast.Call(
                func=ast.Name(id="sum"),
                args=[ast.GeneratorExp(elt=each, generators=[ast.comprehension() as loop])],
            ) if isinstance(loop.target, ast.Name):
                total: Any = z3.BitVecVal(0, 32)
                numbers = self._range(loop, names, state)
                self._term(each, {**names, loop.target.id: 0}, state)  # is it understood, if there is none?
                for number in numbers:
                    total = total + self._term(each, {**names, loop.target.id: number}, state)
                return total
        raise BuildError(
            f"{self.where}: holds: {ast.unparse(node)!r} is not understood; A[i], B[i], C[i], numbers, "
            f"+ - *, sum(... for k in range(n)) and the names {', '.join(names)} are"
        )

    def _joined(self, operation: ast.operator, left: Any, right: Any) -> Any:
        both = isinstance(left, int) and isinstance(right, int)
        match operation:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right if both else self.multiply(left, right)
        raise BuildError(f"{self.where}: holds: only + - and * are understood")

    def _range(
        self, loop: ast.comprehension, names: Mapping[str, int], state: Mapping[str, Any]
    ) -> list[int]:
        call = loop.iter
        if loop.ifs or not (isinstance(call, ast.Call) and ast.unparse(call.func) == "range"):
            raise BuildError(f"{self.where}: holds: sum is over `range(...)` and nothing else")
        numbers = [self._term(arg, names, state) for arg in call.args]
        if not 1 <= len(numbers) <= 2 or not all(isinstance(number, int) for number in numbers):
            raise BuildError(f"{self.where}: holds: range takes one or two numbers")
        return [*range(*numbers)]
