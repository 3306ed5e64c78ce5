"""Two interpreters that share no code: by C, and in Python."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.nests.affine import programs
from tests.nests.affine.same import same

from axiloom.base.errors import UsageError
from axiloom.hw.nest.operators import Operator
from axiloom.hw.nest.operators.registry import operator
from axiloom.isa.numerics.formats import Format, Kind, format_of
from axiloom.nests.affine import c_numbers
from axiloom.nests.affine.interpret import interpret, random_arrays
from axiloom.nests.affine.scalars import function
from axiloom.nests.program import Array, Expression, Load, Op, Program, Role, Statement

SPECIAL = np.array(
    [
        *(0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x00000001, 0x807FFFFF),
        *(0x00800000, 0x80800000, 0x00800001, 0x7F7FFFFF, 0x3F800000, 0xBF800000, 0x4F000000, 0xCF000000),
    ],
    np.uint32,
).view(np.float32)


def hard_arrays(program: Program, rng: np.random.Generator) -> dict[str, npt.NDArray[Any]]:
    """Random ones, half of them values at which formats end."""
    arrays = random_arrays(program, rng)
    for each in program.arrays:
        if not each.role.is_given:
            continue
        format = format_of(each.number)
        ends = SPECIAL if format.numpy == np.float32 else np.array(
            [format.lowest, format.highest, 0, 1, min(2, format.highest), -1 if format.signed else 3],
            format.numpy,
        )  # fmt: skip
        chosen = rng.choice(ends, each.shape)
        if format.numpy == np.float32:
            bits = rng.integers(0, 1 << 32, each.shape, np.uint32).view(np.float32)
            arrays[each.name] = np.where(rng.random(each.shape) < 0.3, bits, arrays[each.name])
        arrays[each.name] = np.where(rng.random(each.shape) < 0.5, chosen, arrays[each.name])
    return arrays


@settings(max_examples=6)
@given(programs.elementwise(count=10), st.integers(0, 1 << 32))
def test_both_agree_on_all_operators_and_formats(program: Program, seed: int) -> None:
    arrays = hard_arrays(program, np.random.default_rng(seed))
    assert same(interpret(program, arrays, by="c"), interpret(program, arrays, by="python"))


def test_an_array_that_does_not_fit_is_refused() -> None:
    program = programs.gemm()
    arrays = random_arrays(program, np.random.default_rng(0))
    with pytest.raises(UsageError, match="gemm: array A is not given"):
        interpret(program, {name: each for name, each in arrays.items() if name != "A"})
    with pytest.raises(UsageError, match=r"gemm: array A is float32 \(4, 6\), not float64 \(4, 6\)"):
        interpret(program, {**arrays, "A": arrays["A"].astype(np.float64)}, by="c")


def test_what_is_given_stays_as_it_is() -> None:
    program = programs.gemm()
    arrays = random_arrays(program, np.random.default_rng(0))
    before = {name: each.copy() for name, each in arrays.items()}
    for by in ("c", "python"):
        interpret(program, arrays, by=by)
        assert same(arrays, before)


def test_python_names_the_instance_that_leaves_an_array() -> None:
    program = programs.pair()
    second = replace(program.statements[1], domain=programs.between("i", 0, 10))
    wrong = replace(program, statements=(program.statements[0], second))
    with pytest.raises(IndexError, match=r"S2 at \(i=0\): T\[i - 1\] is outside of \(10,\)"):
        interpret(wrong, random_arrays(program, np.random.default_rng(0)), by="python")


def test_full_size_is_fast_and_equals_numpy() -> None:
    """PolyBench's gemm at Medium, 10.6 million products, against NumPy in the same order."""
    program = programs.gemm(200, 220, 240)
    given = random_arrays(program, np.random.default_rng(0))
    expected = given["C"] * given["beta"]
    for k in range(240):
        expected = expected + (given["alpha"] * given["A"][:, k, None]) * given["B"][None, k]
    assert np.array_equal(interpret(program, given)["C"], expected)


SOURCES = [each for each in (*programs.FORMATS, "bool") if each != "uint5"]
_ONE = ("neg", "abs", "sqrt", "exp", "not", "convert")
_SAME = (*("add", "sub", "mul", "div", "rem", "max", "min", "and", "or", "xor", "shl", "shr"), *_ONE[:-1])
_COMPARED = ("eq", "ne", "lt", "le", "gt", "ge")


def _asked(source: str) -> list[Operator]:
    """All operators of this format that the hardware has."""
    asked = [(name, source) for name in _SAME] + [(name, "bool") for name in _COMPARED]
    asked += [("convert", each) for each in (*programs.FORMATS, "bool") if each != source]
    found = []
    for name, result in asked:
        try:
            found.append(operator(name, source, result))
        except UsageError:
            continue
    return found


@pytest.mark.parametrize("source", SOURCES)
def test_operators_are_those_of_the_hardware(source: str) -> None:
    """The oracle against the references of ``hw/nest/operators``, on what formats end at and between."""
    format = format_of(source)
    values = _values(format, np.random.default_rng(3))
    operators = _asked(source)
    for hardware in operators:
        given = values[: len(hardware.operand_bits)]
        compute = function(hardware.name, (source,) * len(given), hardware.result)
        with np.errstate(all="ignore"):
            ours = [compute(*each) for each in zip(*given, strict=True)]
        theirs = hardware.reference(*(_raw(each, format) for each in given))
        assert _raw(ours, format_of(hardware.result)).tolist() == theirs.tolist(), hardware
    assert len(operators) >= 3


@pytest.mark.parametrize(
    "source",
    [pytest.param(each, marks=[pytest.mark.slow] * (each not in ("float32", "int8"))) for each in SOURCES],
)
def test_c_operators_are_those_of_the_hardware(source: str) -> None:
    """Bit for bit, on the same operands, in one function of C."""

    def held(number: str) -> str:
        return "uint8" if number == "bool" else number  # no array has elements of bool

    def converted(value: Expression, number: str) -> Expression:
        return value if value.number == number else Op("convert", (value,), number)

    values = _values(format_of(source), np.random.default_rng(3))
    size, i = len(values[0]), programs.name("i")
    given = {f"X{n}": np.array(each, format_of(held(source)).numpy) for n, each in enumerate(values)}
    loads = [converted(Load(name, (i,), held(source)), source) for name in given]
    arrays = [Array(name, (size,), held(source), Role.IN) for name in given]
    statements: list[Statement] = []
    operators = _asked(source)
    for place, hardware in enumerate(operators):
        target = Load(f"Y{place}", (i,), held(hardware.result))
        operands = tuple(loads[: len(hardware.operand_bits)])
        value = converted(Op(hardware.name, operands, hardware.result), target.number)
        statements.append(
            Statement(f"S{place}", ("i",), programs.between("i", 0, size), target, value, (place, 0))
        )
        arrays.append(Array(target.array, (size,), target.number, Role.OUT))
    found = interpret(Program("operators", tuple(arrays), tuple(statements)), given, by="c")
    for place, hardware in enumerate(operators):
        raws = (_raw(each, format_of(source)) for each in values[: len(hardware.operand_bits)])
        ours = _raw(list(found[f"Y{place}"]), format_of(hardware.result))
        assert ours.tolist() == hardware.reference(*raws).tolist(), hardware


def test_c_of_another_maximum_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    body = c_numbers._float
    right = "a != a ? b : b != b ? a : "
    monkeypatch.setattr(c_numbers, "_float", lambda what, is_double: body(what, is_double).replace(right, ""))
    with pytest.raises(AssertionError, match=r"name='max'"):
        test_c_operators_are_those_of_the_hardware("float32")


def _values(format: Format, rng: np.random.Generator) -> list[list[Any]]:
    """Operands a, and operands b: random ones, the ends of the format, and for float32 halves of the units
    of fixed-point formats."""
    found: list[list[Any]] = []
    for _ in range(2):
        if format.kind is Kind.FLOAT:
            bits = rng.integers(0, 1 << 32, 200, np.uint32)
            near = rng.normal(0, 99, 200).astype(np.float32)
            halves = ((rng.integers(-999, 999, 100) + 0.5) / 2.0 ** rng.integers(0, 17, 100)).astype(
                np.float32
            )
            # As bits: a conversion would change signalling NaNs.
            rest = np.concatenate([near, halves, *[SPECIAL] * 12]).view(np.uint32)
            found.append(list(rng.permutation(np.concatenate([bits, rest])).view(np.float32)))
        elif format.kind is Kind.BOOL:
            found.append([int(each) for each in rng.integers(0, 2, 20)])
        else:
            ends = [format.lowest, format.highest, 0, 1, format.lowest + 1, format.highest // 2]
            wide = rng.integers(0, 1 << 63, 300, np.uint64).tolist()
            middle = [(each - format.lowest) % (1 << format.bits) + format.lowest for each in wide]
            found.append([int(each) for each in rng.permutation(np.array(ends * 20 + middle, object))])
    return found


def _raw(values: list[Any], format: Format) -> npt.NDArray[Any]:
    if format.kind is Kind.FLOAT:
        return np.array(values, np.float32).view(np.uint32)
    return np.array(
        [int(each) & ((1 << format.bits) - 1) for each in values], np.dtype(f"uint{format.container}")
    )
