"""The whole way of a text of C: read or refused, compared with its compiler, as a circuit, some in RTL."""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from tests.nest.icarus import run_icarus
from tests.nests.c_fuzz import programs
from tests.nests.fuzz.circuits import banks
from tests.nests.lower.programs import operation

from axiloom.base.errors import AxiloomError, CompileError
from axiloom.cli.nest.source import load
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nest.compare import compare
from axiloom.nest.referee import Judgement, Referee, judge_all
from axiloom.nest.reference import as_read
from axiloom.nest.resident import execute as in_verilator
from axiloom.nest.resident import from_raw
from axiloom.nests import timing
from axiloom.nests.lower import Lowered, lower
from axiloom.nests.program import Program
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.schedule import Schedule
from axiloom.nests.timing.execute import execute

BY_RUN = ("a shift beyond the width", "a division by zero")
"""What may be accepted, and is named by each run that meets it."""
VERILATOR_EVERY = 30
"""Of the circuits in RTL; the others run in Icarus."""
TOGETHER = 16
"""Programs that the host's compiler gets in one file."""


class FaultError(Exception):
    """A text on which the product falls short."""


@dataclass(frozen=True)
class Reading:
    """A text that was accepted, and what its function is called with."""

    number: int
    text: programs.Text
    loaded: Loaded
    arrays: dict[str, Any]

    @property
    def referee(self) -> Referee:
        referee = Referee.of(self.loaded)
        assert referee is not None, "no C compiler"
        return referee


def read(seed: int | str, number: int, folder: Path, counts: Counter[str]) -> Reading | None:
    """Raises FaultError, or whatever the product raised that it must not."""
    text = programs.text(Random(f"{seed}/{number}"))
    counts.update(f"with {kind}" for kind in text.kinds)
    path = folder / f"p{number}.c"
    path.write_text(text.c)
    try:
        loaded = load(f"{path}:f", text.defines)
    except CompileError as refusal:
        refused(str(refusal), path.name, text, counts)
        return None
    if text.undefined and text.undefined not in BY_RUN:
        raise FaultError(f"accepted, but {text.undefined}")
    return Reading(number, text, loaded, {**values(loaded.program, number), **loaded.contents})


def refused(why: str, file: str, text: programs.Text, counts: Counter[str]) -> None:
    if not re.search(rf"\b{re.escape(file)}:\d+", why):
        raise FaultError(f"refused without a line: {why}")
    counts["refused"] += 1
    if text.undefined:
        counts["refused, undefined"] += 1
        return
    reason = re.sub(r"`[^`]*`|\d+", "_", why.splitlines()[0].split(": ", 1)[-1])
    counts[f"refused: {reason[:60]}"] += 1


def judgements(readings: list[Reading], folder: Path) -> list[Judgement | AxiloomError]:
    """All texts in one file for the compiler, with names of their own; if it refuses that, one by one."""
    lines, referees = [programs.HEAD], []
    for place, reading in enumerate(readings):
        names = ["f", "helper", "table", *(["SIZE"] if "enum { SIZE" in reading.text.c else [])]
        lines += [f"#define {name} {name}_{place}" for name in names]
        lines += [f"#define {name} {value}" for name, value in reading.text.defines.items()]
        lines += [f'#include "p{reading.number}.c"', *(f"#undef {name}" for name in (*names, "SIZE"))]
        referee = reading.referee
        function = replace(referee.function, path=folder / "all.c", name=f"f_{place}", flags=())
        referees.append(replace(referee, function=function))
    (folder / "all.c").write_text("\n".join([*lines, ""]))
    arrays = [reading.arrays for reading in readings]
    try:
        return judge_all(referees, arrays) if readings else []
    except AxiloomError:
        return [_alone(reading) for reading in readings]


def _alone(reading: Reading) -> Judgement | AxiloomError:
    try:
        return reading.referee.judge(reading.arrays)
    except AxiloomError as fault:
        return fault


def judged(reading: Reading, judgement: Judgement | AxiloomError, counts: Counter[str], in_rtl: int) -> None:
    text = reading.text
    if isinstance(judgement, AxiloomError):
        if text.undefined and text.undefined in BY_RUN:
            counts["undefined, said by a run"] += 1
            return
        raise FaultError(f"accepted, but {judgement}")
    counts["accepted"] += 1
    assert judgement.undefined is not None, "no sanitizers"
    if undefined := [line for line in judgement.undefined if line not in judgement.wraps]:
        counts["undefined, said by a run"] += 1
        counts[f"undefined: {undefined[0].split(': ')[-1][-40:]}"] += 1
        return
    if text.undefined:
        raise FaultError(f"accepted without a word, but {text.undefined}")
    right = as_read(reading.referee, judgement, reading.arrays)
    counts["equal to the compiler's"] += 1
    circuit(reading.loaded.program, reading.arrays, right, counts, in_rtl)


def circuit(
    program: Program, arrays: dict[str, Any], right: dict[str, Any], counts: Counter[str], in_rtl: int
) -> None:
    try:
        lowered = lower(Schedule.of(program))
    except CompileError as fault:
        counts["not built"] += 1
        counts[f"not built: {re.sub('[0-9]+', '_', str(fault).split(': ', 1)[-1])[:60]}"] += 1
        return
    memories = banks(lowered, program, arrays)
    ran = execute(lowered.circuit, memories, operation)
    expect(program, lowered, ran.memories, right, "in the circuit's model")
    cycles = timing.cycles(lowered.circuit).cycles
    if ran.cycles != cycles:
        raise FaultError(f"{cycles} cycles predicted, {ran.cycles} taken")
    counts["circuits"] += 1
    if counts["in RTL"] >= in_rtl:
        return
    counts["in RTL"] += 1
    if counts["in RTL"] % VERILATOR_EVERY == 0:
        resident = in_verilator(lowered, program, arrays)
        if not (compared := compare(resident.results, right)).matches:
            raise FaultError(f"in Verilator: {compared.first}")
        taken = resident.simulated
    else:
        outcome = run_icarus(lowered.circuit, memories)
        expect(program, lowered, outcome.memories, right, "in Icarus")
        taken = outcome.cycles
    if taken != cycles:
        raise FaultError(f"{cycles} cycles predicted, {taken} simulated")


def expect(program: Program, lowered: Lowered, memories: Any, right: dict[str, Any], where: str) -> None:
    """Raises FaultError for a result in memories that is not right."""
    ours = {}
    for name in right:
        array = program.array(name)
        if name in lowered.layouts:
            raw = lowered.layouts[name].from_banks(np.asarray(memories[name], np.uint64))
            ours[name] = from_raw(raw, format_of(array.number)).reshape(array.shape)
    compared = compare(ours, {name: right[name] for name in ours})
    if not compared.matches:
        raise FaultError(f"{where}: {compared.first}")


def values(program: Program, seed: int) -> dict[str, Any]:
    """Small ones and ends of ranges; floats with zeros of both signs, infinities and NaN."""
    rng = np.random.default_rng(seed)
    inputs = {}
    for array in program.arrays:
        if not array.role.is_given:
            continue
        format = format_of(array.number)
        if format.kind is Kind.FLOAT:
            drawn: Any = rng.uniform(-4, 4, array.shape)
            drawn = np.where(
                rng.random(array.shape) < 0.2,
                rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, 0.5]),
                drawn,
            )
        else:
            low, high = format.lowest, format.highest
            drawn = rng.integers(max(low, -9), min(high, 9), array.shape, endpoint=True)
            whole = rng.integers(
                low, high, array.shape, format.numpy if format.kind is Kind.INTEGER else int, endpoint=True
            )
            drawn = np.where(rng.random(array.shape) < 0.5, drawn.astype(whole.dtype), whole)
        inputs[array.name] = np.asarray(drawn).astype(format.numpy)
    return inputs


def run(
    numbers: Iterable[int], seed: int | str, in_rtl: int = 0, keep: Path | None = None, seconds: float = 1e9
) -> Counter[str]:
    """Raises what fails; with `keep` writes the text of each fault to that folder, and goes on."""
    counts: Counter[str] = Counter()
    until, numbers = time.monotonic() + seconds, list(numbers)
    for start in range(0, len(numbers), TOGETHER):
        if time.monotonic() > until:
            break
        readings = list[Reading]()
        with tempfile.TemporaryDirectory(prefix="axiloom-") as name:
            for number in numbers[start : start + TOGETHER]:
                counts["programs"] += 1
                with _noted(number, seed, keep, counts):
                    reading = read(seed, number, Path(name), counts)
                    readings += [] if reading is None else [reading]
            for reading, judgement in zip(readings, judgements(readings, Path(name)), strict=True):
                with _noted(reading.number, seed, keep, counts):
                    judged(reading, judgement, counts, in_rtl)
    return counts


@contextmanager
def _noted(number: int, seed: int | str, keep: Path | None, counts: Counter[str]) -> Iterator[None]:
    try:
        yield
    except Exception as fault:
        why = f"{type(fault).__name__}: {' '.join(str(fault).split())[:300]}"
        print(f"program {number} of seed {seed}: {why}", file=sys.stderr, flush=True)
        if keep is None:
            raise
        counts["FAULTS"] += 1
        text = programs.text(Random(f"{seed}/{number}"))
        options = " ".join(f"-D {name}={value}" for name, value in text.defines.items())
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{seed}-{number}.c").write_text(
            f"/* {why} */\n/* axiloom nest THIS.c:f {options} */\n{text.c}"
        )
