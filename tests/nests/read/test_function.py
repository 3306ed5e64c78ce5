"""Loops that are functions of Python: interpreted, they are what Python computes; the rest is refused."""

from __future__ import annotations

import linecache
from pathlib import Path
from types import FunctionType
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.commands import main

import axiloom as ax
from axiloom.base.errors import CompileError, MismatchError
from axiloom.nest.reference import reference
from axiloom.nests.affine.interpret import interpret
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.read.function import is_loops, read
from axiloom.nests.schedule import Schedule

N = 16
Row = Annotated[npt.NDArray[np.int16], N]
Wide = Annotated[npt.NDArray[np.int32], N]
Real = Annotated[npt.NDArray[np.float32], N]
TAPS = np.array([1, -2, 3], np.int16)


def taps(x: Row, y: Row, gain: np.int16) -> None:
    """A local variable, a constant table, a parameter, a branch on data and iterators, with another side."""
    shift = len(TAPS) - 1
    for i in range(1, N - 1):
        total = np.int16(0)
        for k in range(3):
            total += TAPS[k] * x[i + k - 1]
        if total > 100 and i < 9:
            y[i] = total >> shift
        elif i == 12 or not -50 <= total < 50:
            y[i] += gain
        else:
            y[i] = np.maximum(total, gain) if i > 5 else -total


def triangle(x: Row, y: Wide) -> None:
    """Bounds of several forms, steps down, a local array that begins as zeros, conversions."""
    sums = np.zeros((N,), dtype=np.int32)
    for i in range(N - 1, -1, -1):
        for j in range(max(0, i - 3), min(i + 1, 12)):
            sums[i] += np.int32(x[j]) * i
    for i in range(N):
        if i < 8:
            y[i] = sums[i] - np.int32(i) * i
        else:
            y[i] = abs(sums[N - 1 - i])


def reals(x: Real, y: Real) -> None:
    for i in range(N):
        y[i] = np.sqrt(abs(x[i])) / (np.float32(i) + 1.5) if x[i] < 0.5 else np.exp(x[i])


def _values(loaded: Loaded, seed: int) -> dict[str, Any]:
    """At random, over all numbers: integers wrap."""
    random = np.random.default_rng(seed)
    values: dict[str, Any] = dict(loaded.contents)
    for array in loaded.program.arrays:
        if array.role.is_given and array.name not in values:
            if array.number == "float32":
                values[array.name] = random.normal(size=array.shape).astype(np.float32)
            else:
                info = np.iinfo(array.number)
                small = info.max if seed % 2 else 99
                values[array.name] = random.integers(-small, small, array.shape, array.number, endpoint=True)
    return values


def _agree(loaded: Loaded, seed: int) -> None:
    assert loaded.original is not None
    values = _values(loaded, seed)
    right = loaded.original.call(values)
    ours = interpret(loaded.program, loaded.program.with_copies(values))
    assert right
    for name, expected in right.items():
        np.testing.assert_allclose(ours[name], expected, rtol=1e-6 if expected.dtype.kind == "f" else 0)


@pytest.mark.parametrize("function", [taps, triangle, reals])
@pytest.mark.parametrize("seed", range(4))
def test_as_python_computes(function: FunctionType, seed: int) -> None:
    _agree(read(function), seed)


def test_what_differs_is_named() -> None:
    loaded, other = read(taps), read(triangle_of_less)
    wrong = Loaded(loaded.program, loaded.contents, original=other.original)
    with pytest.raises(MismatchError, match=r"as read, y\[\d+\] is .* by triangle_of_less in Python"):
        reference(wrong, Schedule.of(wrong.program), _values(loaded, 2))


def triangle_of_less(x: Row, y: Row) -> None:
    for i in range(N):
        y[i] = x[i] - 1


_LEAVES = st.sampled_from(["x[i]", "x[i - 2]", "y[i]", "y[i + 1]", "t", "3", "-7", "np.int16(i)", "TAPS[1]"])
_EXPRESSIONS = st.recursive(
    _LEAVES.filter(lambda text: text not in ("3", "-7")),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "&", "|", "^"]), st.one_of(inner, _LEAVES)).map(
            lambda parts: f"({' '.join(parts)})"
        ),
        st.tuples(inner, st.sampled_from([">>", "<<"]), st.integers(0, 15)).map(
            lambda p: f"({p[0]} {p[1]} {p[2]})"
        ),
        st.tuples(st.sampled_from(["max", "np.minimum"]), inner, inner).map(
            lambda p: f"{p[0]}({p[1]}, {p[2]})"
        ),
        st.tuples(inner, inner, inner, _LEAVES).map(lambda p: f"({p[0]} if {p[1]} < {p[3]} else {p[2]})"),
        inner.map(lambda text: f"(-{text})"),
        inner.map(lambda text: f"(~{text})"),
    ),
    max_leaves=6,
)
_TESTS = st.one_of(
    st.tuples(_EXPRESSIONS, st.sampled_from(["<", "<=", "==", "!=", ">"]), _LEAVES).map(" ".join),
    st.sampled_from(
        ["i < 7", "i == 9 and x[i] > 0", "3 <= i < 11", "i != 8", "not i >= 6", "i < 4 or t > 5"]
    ),
)


@given(
    _EXPRESSIONS, _TESTS, _EXPRESSIONS, _EXPRESSIONS, st.sampled_from(["=", "+=", "^="]), st.integers(0, 3)
)
@settings(max_examples=60, deadline=None)
def test_any_function_is_what_python_computes(
    first: str, test: str, yes: str, no: str, assigned: str, seed: int
) -> None:
    text = f"""
def drawn(x: Row, y: Row) -> None:
    for i in range(2, N - 1):
        t = x[i] ^ 5
        t {assigned} {first}
        if {test}:
            y[i] {assigned} {yes}
            t = y[i] + t
        else:
            y[i - 1] = {no}
        y[i] -= t
"""
    _agree(read(_function(text, "drawn")), seed)


def _function(text: str, name: str) -> FunctionType:
    linecache.cache["drawn.py"] = (len(text), None, text.splitlines(keepends=True), "drawn.py")
    scope: dict[str, Any] = {"np": np, "Row": Row, "Wide": Wide, "N": N, "TAPS": TAPS}
    exec(compile(text, "drawn.py", "exec"), scope)
    function: FunctionType = scope[name]
    return function


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            "y[i] = x[i] + w[i]",
            "5: `add` of int16 and int32: operands are of one format; convert one of them",
        ),
        (
            "n = 0; n += x[i]; y[i] = n",
            "5: `n` is assigned more than once and begins without a type: n = np.int32",
        ),
        ("y[i] = x[i - 1]", r"5: S0 reads x\[-1\] at i=0, out of bounds"),
        ("n = i\n    y[0] = x[n]", "6: `n` has no value here; names that a block binds end with it"),
        ("y[i] = x[i] * 2.0", "5: 2.0 beside int16: convert one of them"),
        ("while True: y[i] = x[i]", "5: `while True:` is no part of loops; accepted are `for` over"),
        ("y[i] = x[i] // 3", r"5: operators are \+ - "),
        ("y[i] = nowhere", "5: `nowhere` has no value here"),
        ("y[i] = 1 if x[i] else 0", "5: `1 if x.* has no type"),
        ("y[i] = x[i] if x[i] else y[i]", "5: int16 is no condition: compare it with 0"),
        ("y[:] = x[:]", "5: `:` is no expression of loops"),
        ("y[i] = x[i]; return y", "5: `return y` is no part of loops"),
        ("y[i] = x[i] + 70000", "5: 70000 is no int16"),
        ("y[i] = x[x[i]]", "5: a subscript is a number that is computed"),
        ("y[i] = x[i] + i * i", "5: a product of iterators is data: "),
        ("for j in range(40000): y[i] = x[i] + j", "5: j is 0 to 39999, and int16 does not hold that"),
        ("for j in range(40000): y[i] = np.int16(j)", "5: j is 0 to 39999"),
        ("for j in range(40000): y[i] = 1 - j", "5: -j \\+ 1 is -39998 to 1"),
        ("y[i] = sum(x[i])", "5: `sum` of data; functions are max, min, abs"),
        ("x = y", "5: `x` is an array or a parameter: assign to its elements"),
        ("TAPS[0] = x[i]", "5: `TAPS` is no array that the function may write"),
        ("if x[i] > 0: t = x[i]\n        y[i] = t", "S1 reads t at i=0, which nothing has written"),
        ("pass", "3: refused assigns nothing"),
    ],
)
def test_refused(body: str, why: str) -> None:
    text = f"\n\ndef refused(x: Row, y: Row, w: Wide) -> None:\n    for i in range(N):\n        {body}\n"
    with pytest.raises(CompileError, match=rf"^drawn.py:{why}" if why[0].isdigit() else why):
        read(_function(text, "refused"))


def test_what_is_no_such_function() -> None:
    for annotation, why in (
        ("Nowhere", "name 'Nowhere' is not defined"),
        ("np.int99", "module 'numpy' has no attribute 'int99'"),
        ("int16[", ""),
    ):
        unknown = _function(
            f"\ndef unknown(x: '{annotation}', y: Row) -> None:\n    y[0] = x[0]\n", "unknown"
        )
        with pytest.raises(
            CompileError, match=rf"2: annotations of unknown: {why}.*; accepted are Annotated"
        ):
            ax.nest(unknown)
    waits = _function("\nasync def waits(x: Row, y: Row) -> None:\n    y[0] = x[0]\n", "waits")
    with pytest.raises(CompileError, match="2: waits does not begin with `def`"):
        ax.nest(waits)
    named = _function("\ndef named(x: Row, *, y: Row) -> None:\n    y[0] = x[0]\n", "named")
    with pytest.raises(CompileError, match="2: `y`: parameters are given by place or name alike"):
        ax.nest(named)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from typing import Annotated\nimport numpy as np, numpy.typing as npt\nimport axiloom as ax\n\n"
        "Row = Annotated[npt.NDArray[np.int16], 16]\n\n\n@ax.nest\ndef doubled(x: Row, y: Row) -> None:\n"
        "    for i in range(16):\n        y[i] = 2 * x[i]\n\n\ndef sized(x: int) -> None:\n    pass\n"
    )
    assert main(["nest", f"{file}:doubled"]) == 0
    assert "doubled: 1 statements in 1 nests, 16 instances" in capsys.readouterr().out
    assert main(["nest", f"{file}:doubled", "-D", "N=3"]) == 2
    assert "sizes of loops in Python stand in the annotations" in capsys.readouterr().err
    assert not is_loops(len)
    whole, written = ax.plan(ax.nest(f"{file}:doubled").by("unroll S0 i 2\n")), ax.plan(f"{file}:doubled")
    assert whole.arguments == written.arguments == {"x": ("int16", (16,))}
    assert whole.job().packets == written.job().packets
    assert main(["nest", f"{file}:sized", "-D", "x=3"]) == 2
    assert "returned NoneType; it must return a Program" in capsys.readouterr().err


@pytest.mark.slow
def test_in_rtl() -> None:
    nest = ax.nest(taps)
    ran = nest.run()
    assert ran.right
    assert "equal to taps in Python itself" in ran.reference.text
    assert ran.resident.simulated == nest.cycles
