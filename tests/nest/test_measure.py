"""`compare`, bounds, bits of narrow formats, and progress lines."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from benchmarks.polybench import sizes

from axiloom.isa.numerics.formats import format_of
from axiloom.nest import progress
from axiloom.nest.compare import compare
from axiloom.nest.measure import design
from axiloom.nest.progress import Steps, line
from axiloom.nest.resident import from_raw, to_raw
from axiloom.nests.read.c import read
from axiloom.nests.schedule import Schedule


def test_bits_are_compared_not_values() -> None:
    zero, nan = np.zeros(3, np.float32), np.full(3, np.nan, np.float32)
    assert compare({"a": nan}, {"a": nan}).matches
    assert compare({"a": -zero}, {"a": zero}).mismatches == 3


def test_the_first_wrong_element_is_named() -> None:
    right = np.arange(6, dtype=np.int32).reshape(2, 3)
    wrong = right.copy()
    wrong[1, 1:] = 9
    found = compare({"a": right, "b": wrong}, {"a": right, "b": right})
    assert (found.elements, found.mismatches) == (12, 2)
    assert found.first == "b[1][1] is 9, expected 4"
    assert compare({"s": np.int32(1)}, {"s": np.array(2, np.int32)}).first == "s is 1, expected 2"


@pytest.mark.parametrize("number", ["int5", "uint5", "int8", "int64", "fixed<12,4>", "ufixed<9,9>", "bool"])
def test_narrow_formats_keep_their_values(number: str) -> None:
    format = format_of(number)
    held = np.array([format.lowest, -1 if format.signed else 1, 0, format.highest]).astype(format.numpy)
    raw = to_raw(held, format)
    assert raw.dtype.kind == "u"
    assert all(int(each) < 1 << format.bits for each in raw)
    assert np.array_equal(from_raw(raw.astype(np.uint64), format), held)
    assert to_raw(held[0], format).shape == ()


def test_a_bound_without_multiply_adds_counts_instances() -> None:
    program = read(sizes.source("jacobi-1d"), "", {"TSTEPS": "2", "N": "10"}).program
    bound = design(program, Schedule.of(program)).bound
    assert (bound.cycles, bound.work, bound.units) == (16, 16, 1)
    assert bound.what.startswith("instances of S")


def test_progress_knows_what_took_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AXILOOM_CACHE", str(tmp_path))
    monkeypatch.setattr(progress, "_SHORTEST", 0.05)
    said: list[str] = []
    steps = Steps(said.append)
    with steps.step("first", "kind", 10):
        time.sleep(0.1)
    with steps.step("again", "kind", 1000):
        pass
    assert said[0] == "first"
    assert said[1].startswith("again: 0 s, about 1")


def test_progress_lines() -> None:
    assert line("it", 0, None) == "it"
    assert line("it", 12.2, None) == "it: 12 s"
    assert line("it", 12.2, 42) == "it: 12 s, about 30 s left"
    assert line("it", 50, 42) == "it: 50 s, longer than the 42 s it took before"
