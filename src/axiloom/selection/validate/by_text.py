"""`by_text`: a program whose commands mean nothing alone, validated by the text of its instruction set.

A small one is executed by its text on polynomials of its inputs: every element of a result is the
application's for all inputs, with all that wraps and clips. A larger one is executed on numbers: small ones,
whose sums stay within the clips, and any.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from axiloom.graph.evaluate import evaluate
from axiloom.graph.graph import Graph, GraphError, Node
from axiloom.graph.numbers import number
from axiloom.graph.ops.composite import computed
from axiloom.isa.instructions.simulator.reference import Reference
from axiloom.isa.instructions.tree import (
    Apply,
    Bits,
    Expr,
    Fold,
    InstructionSet,
    Name,
    Read,
    Wrapped,
)
from axiloom.selection.drive.encode import Encoder
from axiloom.selection.drive.execute import execute
from axiloom.selection.program.program import Program
from axiloom.selection.validate.numbers import Compared, Raw, edge_inputs, random_inputs
from axiloom.selection.validate.polynomials import Poly, Polynomials, UnknownError, Value
from axiloom.selection.validate.replay import ProgramFaultError
from axiloom.selection.validate.verdict import Verdict

MOST_STEPS = 160
"""Steps up to which a program is executed on polynomials: one of GEMM is 256 products."""
SMALL = 1 << 12
"""Integers of more than a byte are below this in one of the trials."""


def by_text(program: Program, graph: Graph, isa: InstructionSet, *, seed: int = 0) -> Verdict:
    """Raises ProgramFaultError, which names the first element that is wrong."""
    begun = time.perf_counter()
    proved = steps(program) <= MOST_STEPS
    if proved:
        try:
            compare_polynomials(program, graph, isa)
        except (UnknownError, GraphError):
            proved = False
    for inputs in _inputs(graph, seed):
        compare(program, graph, isa, inputs)
    return Verdict(proved, Compared(True), time.perf_counter() - begun, sampled=not proved)


def steps(program: Program) -> int:
    """Steps of its loops over micro-ops that multiply."""
    count = 0
    for command in program.commands:
        fields = command.fields
        if command.instruction == "gemm" and not fields.get("reset"):
            count += fields.get("outer", 0) * fields.get("inner", 0) * (fields["last"] - fields["first"])
    return count


def _inputs(graph: Graph, seed: int) -> Iterator[dict[str, Raw]]:
    """Small integers, any, and those at which results turn."""
    plain = random_inputs(graph, seed)
    yield {
        name: np.asarray(value % (2 * SMALL) - SMALL, value.dtype) if value.dtype.itemsize > 1 else value
        for name, value in plain.items()
    }
    yield plain
    yield from edge_inputs(graph, seed)


def compare(program: Program, graph: Graph, isa: InstructionSet, inputs: Mapping[str, Raw]) -> None:
    named = {array.name for array in program.arrays}
    outputs = execute(program, isa, {name: value for name, value in inputs.items() if name in named})
    for name, expected in zip(graph.result_names, evaluate(graph, inputs), strict=True):
        differs = np.asarray(outputs[name]).reshape(expected.shape) != expected
        if differs.any():
            at = [int(i) for i in np.argwhere(differs)[0]]
            raise ProgramFaultError(f"{name}{at} has another number than in the application")


# --- on polynomials -----------------------------------------------------------------------------------------


def compare_polynomials(program: Program, graph: Graph, isa: InstructionSet) -> None:
    """Raises ProgramFaultError; UnknownError and GraphError for what has no polynomials."""
    polynomials = Polynomials()
    leaves = {
        str(parameter.attributes["name"]): _symbols(
            polynomials, str(parameter.attributes["name"]), parameter.type.shape, parameter.type.number
        )
        for parameter in graph.parameters
    }
    run = Symbolic(isa, polynomials)
    for array in program.arrays:
        if array.role in ("in", "constant"):
            values = leaves[array.name] if array.role == "in" else program.constants[array.name]
            run.load(array.memory, array.base, values, number(array.number).host.itemsize)
    encoder = Encoder(isa)
    for command in program.commands:
        run.execute(isa.instructions[command.instruction], encoder.inputs(command))
    arrays = {array.name: array for array in program.arrays if array.role == "out"}
    elements = _Elements(_Algebra(polynomials), graph, leaves)
    for name, node in zip(graph.result_names, graph.results, strict=True):
        array = arrays[name]
        of = number(array.number)
        for place, at in enumerate(np.ndindex(*node.type.shape)):
            first = array.base + place * of.host.itemsize
            element = run.element(array.memory, first, of.host.itemsize, signed=of.signed)
            expected, _ = elements.at(node, at)
            if not _equal(element, expected):
                raise ProgramFaultError(f"{name}{list(at)} is another value than in the application")


def _equal(a: Value, b: Value) -> bool:
    if isinstance(a, Poly) and isinstance(b, Poly):
        return a.terms == b.terms
    return not isinstance(a, Poly) and not isinstance(b, Poly) and a == b


def _symbols(polynomials: Polynomials, name: str, shape: Sequence[int], of: str) -> NDArray[Any]:
    if number(of).kind != "integer":
        raise UnknownError(f"{of} has no polynomials")
    ends = np.iinfo(number(of).host)
    values = np.empty(shape, object)
    for at in np.ndindex(*shape):
        values[at] = polynomials.symbol((name, at), int(ends.min), int(ends.max))
    return values


class Symbolic(Reference):
    """Executes a text on memories of polynomials; what they have before is any. What decides where something
    goes must be a number."""

    def __init__(self, isa: InstructionSet, polynomials: Polynomials) -> None:
        memories = {memory.name: np.full(memory.shape, None) for memory in isa.memories.values()}
        registers = {register.name: register.init or 0 for register in isa.registers.values()}
        super().__init__(isa, {**registers, **memories})  # type: ignore[arg-type]
        self.made = polynomials

    def load(self, memory: str, base: int, values: NDArray[Any], size: int) -> None:
        """Elements of `size` bytes."""
        held = self.state[memory]
        for place, value in enumerate(values.ravel().tolist()):
            for byte in range(size):
                held[base + place * size + byte] = self.made.bits(value, 8 * byte, 8)

    def element(self, memory: str, at: int, size: int, *, signed: bool) -> Value:
        whole = self.made.cat([(self._held(memory, (i,)), 8) for i in range(at, at + size)])
        return self.made.wrapped(whole, 8 * size, signed=signed)

    def value(self, expr: Expr, known: Mapping[str, Any]) -> Any:
        match expr:
            case Name(name=name):
                return known[name] if name in known else self.state[name]
            case Read(memory=memory, index=index):
                return self._held(memory.name, self.index(memory, index, known))
            case Wrapped(value=value, range=kind):
                return self.made.wrapped(self.value(value, known), kind.bits, signed=kind.low < 0)
            case Bits(value=value, low=low, width=width):
                return self.made.bits(self.value(value, known), self.value(low, known), width)
            case Fold(operation="add", iterator=iterator, count=count, body=body):
                return self.made.sum(self.value(body, {**known, iterator: turn}) for turn in range(count))
            case Apply(operation="cat", arguments=parts):
                return self.made.cat([(self.value(part, known), part.range.bits) for part in parts])
            case Apply(operation=operation, arguments=arguments) if operation not in ("and", "or"):
                values = [self.value(argument, known) for argument in arguments]
                if any(isinstance(value, Poly) for value in values):
                    return self._apply(operation, values)
        return super().value(expr, known)

    def _held(self, memory: str, at: tuple[int, ...]) -> Value:
        value: Value | None = self.state[memory][at]
        if value is None:
            kind = self.isa.memories[memory].type
            value = self.state[memory][at] = self.made.symbol(("before", memory, at), kind.low, kind.high)
        return value

    def _apply(self, operation: str, values: Sequence[Any]) -> Value:
        rule = _OF_POLYNOMIALS.get(operation)
        if rule is None:
            raise UnknownError(f"{operation} of data")
        return rule(self.made, *values)


def _least(polynomials: Polynomials, a: Value, b: Value) -> Value:
    value, end = (a, b) if isinstance(b, int) else (b, a)
    if not isinstance(end, int):
        raise UnknownError("the smaller of two values")
    return polynomials.clipped(value, None, end)


def _most(polynomials: Polynomials, a: Value, b: Value) -> Value:
    value, end = (a, b) if isinstance(b, int) else (b, a)
    if not isinstance(end, int):
        raise UnknownError("the larger of two values")
    return polynomials.clipped(value, end, None)


def _shift(polynomials: Polynomials, a: Value, by: Value) -> Value:
    if not isinstance(by, int):
        raise UnknownError("a shift by data")
    return polynomials.shifted(a, by)


_OF_POLYNOMIALS: Mapping[str, Callable[..., Value]] = {
    "add": lambda _, a, b: a + b,
    "sub": lambda _, a, b: a - b,
    "mul": lambda _, a, b: a * b,
    "neg": lambda _, a: -a,
    "shr": _shift,
    "min": _least,
    "max": _most,
}


class _Algebra:
    """Elements of operations on integers: pairs of a value and its number."""

    def __init__(self, polynomials: Polynomials) -> None:
        self.made = polynomials

    def apply(self, function: str, *arguments: Any) -> tuple[Value, str]:
        head, _, rest = function.partition(":")
        if head == "literal":
            of, _, text = rest.partition(":")
            return int(number(of).parse(text).reshape(())), of
        if head == "convert":
            return self._within(arguments[0][0], rest), rest
        of = arguments[0][1]
        rule = _OF_POLYNOMIALS.get("shr" if head == "sra" else head)
        if rule is None:
            raise GraphError(f"{function} of {of} has no polynomial")
        if head == "sra" and not 0 <= arguments[1][0] < number(of).bits:
            raise GraphError(f"a shift by {arguments[1][0]}")
        return self._within(rule(self.made, *(value for value, _ in arguments)), of), of

    def _within(self, value: Value, of: str) -> Value:
        kind = number(of)
        if kind.kind != "integer":
            raise GraphError(f"{of} has no polynomials")
        return self.made.wrapped(value, kind.bits, signed=kind.signed)

    def fold(self, function: str, count: int, body: Callable[[int], Any]) -> Any:
        result = body(0)
        if function == "add":  # what wraps once at the end is the same
            total = self.made.sum([result[0], *(body(index)[0] for index in range(1, count))])
            return self._within(total, result[1]), result[1]
        for index in range(1, count):
            result = self.apply(function, result, body(index))
        return result

    def choose(self, condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        return yes() if condition else no()

    def scan(self, *_: Any) -> Any:
        raise GraphError("steps one after another have no polynomials")


class _Elements:
    """Elements of a graph's values, each made once."""

    def __init__(self, algebra: _Algebra, graph: Graph, leaves: Mapping[str, NDArray[Any]]) -> None:
        self.algebra, self.graph, self.leaves = algebra, graph, leaves
        self.known: dict[tuple[int, tuple[int, ...]], tuple[Value, str]] = {}

    def at(self, node: Node, place: tuple[int, ...]) -> tuple[Value, str]:
        if node.op == "parameter":
            return self.leaves[str(node.attributes["name"])][place], node.type.number
        if node.op == "constant":
            return int(self.graph.constant(node)[place]), node.type.number
        key = id(node), place
        if key not in self.known:
            self.known[key] = computed(node, self.algebra, place, lambda of, at: self.at(of, tuple(at)))
        return self.known[key]
