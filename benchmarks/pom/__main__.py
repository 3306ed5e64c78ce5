"""POM's 14 kernels (``python -m benchmarks.pom``): cycles at POM's size beside the published ones, at POM's
parallelism (pom) and at what fits an XC7Z020 (ours); and runs in Verilator.

Cycles at POM's size are the timing model's. With --run each design is executed as well, small or at POM's own
size; its results are compared bit for bit with NumPy (`reference.py`) and its cycles with the model's.
`--run shown` is the whole table: kernels at POM's own size where that takes minutes (`OWN_RUNS`), else small,
and POM's schedule of Seidel, which is refused. It takes minutes of CPU, and goes on where it was broken off.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import prod
from typing import Any

import numpy as np

from axiloom.boards.synthesis.resources import XC7Z020
from axiloom.nest.resident import execute as run_resident
from axiloom.nests.dataflow import plan
from axiloom.nests.lower import lower
from axiloom.nests.program import Program, Role
from axiloom.nests.resources import Amount, estimate
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.errors import LegalityError
from axiloom.nests.timing.timing import cycles
from benchmarks.pom.kernels import KERNELS
from benchmarks.pom.known import known
from benchmarks.pom.published import OWN_SIZE, PUBLISHED
from benchmarks.pom.reference import REFERENCE
from benchmarks.pom.schedules import VARIANTS, scheduled

SMALL: Mapping[str, Mapping[str, int]] = {
    **{name: {"n": 16} for name in ("gemm", "bicg", "gesummv", "two_mm", "three_mm", "blur", "edge_detect")},
    "gaussian": {"n": 16, "taps": 3},
    **{name: {"n": 34, "steps": 3} for name in ("jacobi_1d", "heat")},
    **{name: {"n": 18, "steps": 2} for name in ("jacobi_2d", "seidel")},
    "vgg16": {"channels": 1, "size": 32},
    "resnet18": {"channels": 1, "size": 8},
}
"""At which all are executed in seconds."""


OWN_RUNS: Mapping[str, tuple[str, ...]] = {
    "bicg": ("pom", "ours"),
    "gesummv": ("pom", "ours"),
    "blur": ("pom",),
    "edge_detect": ("ours",),
    "gaussian": ("pom",),
    "jacobi_1d": ("pom",),
    "heat": ("pom",),
    "vgg16": ("pom",),
    "resnet18": ("ours",),
}
"""What `--run shown` executes at POM's own size. The other five kernels have 2e9 to 7e10 cycles there."""

UNCHECKED = ("vgg16", "resnet18")
"""Run at POM's own size without the RTL's checks of itself, one for each of 400 reads and each bank. Results
and cycles are compared all the same."""

LARGE = 1 << 20
"""Elements. Larger arrays between two passes are the caller's, as all of POM's are: no part holds them."""


@dataclass(frozen=True)
class Ran:
    predicted: int
    simulated: int
    equal: bool
    seconds: float


def sized(name: str, size: Mapping[str, int]) -> Program:
    """The kernel at `size`, its large arrays outside of the circuit."""
    program = KERNELS[name](**size)
    return replace(
        program,
        arrays=tuple(
            replace(array, role=Role.OUT) if array.role is Role.LOCAL and prod(array.shape) > LARGE else array
            for array in program.arrays
        ),
    )


def model(name: str, variant: str, size: Mapping[str, int]) -> tuple[int, Amount]:
    """Predicted cycles, and resources (without the caller's arrays)."""

    def find() -> dict[str, Any]:
        predicted, taken = _model(name, variant, size)
        return {"cycles": predicted, "taken": asdict(taken)}

    figures = known(["model", name, variant, dict(size)], find)
    return figures["cycles"], Amount(**figures["taken"])


def _model(name: str, variant: str, size: Mapping[str, int]) -> tuple[int, Amount]:
    schedule = scheduled(sized(name, size), name, variant)
    circuit = lower(schedule, plan(schedule)).circuit
    return cycles(circuit).cycles, estimate(circuit).total


def data(program: Program) -> dict[str, Any]:
    """float32 from -1 to 1; B of `heat` begins as A."""
    rng = np.random.default_rng(0)
    arrays = {
        array.name: rng.uniform(-1, 1, array.shape).astype(np.float32)
        for array in program.arrays
        if array.role.is_given
    }
    return {**arrays, "B": arrays["A"].copy()} if program.name == "heat" else arrays


def execute(name: str, variant: str, size: Mapping[str, int]) -> Ran:
    """In Verilator, with all arrays of the caller resident."""
    program = sized(name, size)
    arrays = data(program)
    schedule = scheduled(program, name, variant)
    start = time.monotonic()
    large = name in UNCHECKED and size == OWN_SIZE[name]
    # The schedule's program, which has the copies that the schedule makes.
    ran = run_resident(lower(schedule, plan(schedule)), schedule.program, arrays, checks=not large)
    seconds = time.monotonic() - start
    steps = {"steps": size["steps"]} if "steps" in size else {}
    expected = REFERENCE[name](arrays, **steps)
    equal = all(
        np.array_equal(ran.results[array].view(np.uint32), np.asarray(wanted, np.float32).view(np.uint32))
        for array, wanted in expected.items()
    )
    return Ran(ran.predicted, ran.simulated, equal, seconds)


def kept_run(name: str, variant: str, size: Mapping[str, int]) -> Ran:
    """As :func:`execute`, or as it was with the same code."""
    return Ran(**known(["run", name, variant, dict(size)], lambda: asdict(execute(name, variant, size))))


def refused() -> str:
    """What is said of POM's schedule of Seidel, at its own size."""
    schedule = Schedule.of(KERNELS["seidel"](**OWN_SIZE["seidel"]))
    try:
        schedule.skew("S0", "i", "j", 2).interchange("S0", "i", "j")
    except LegalityError as fault:
        return str(fault)
    raise AssertionError("POM's schedule of Seidel was accepted")


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pom", description=__doc__)
    parser.add_argument("kernel", nargs="*", choices=[*KERNELS, []], help="default: all 14")
    parser.add_argument("--variant", choices=VARIANTS, action="append", help="default: both")
    parser.add_argument("--run", choices=("small", "own", "shown"), help="execute in Verilator, at this size")
    parser.add_argument("--no-model", action="store_true", help="only run")
    options = parser.parse_args(words)
    print("kernel      size  variant           work         cycles     published  fewer   DSP    LUT  fits"
          "  run at: predicted simulated equal")  # fmt: skip
    good = True
    for name in options.kernel or KERNELS:
        for variant in options.variant or VARIANTS:
            published, own = PUBLISHED[name], OWN_SIZE[name]
            text = f"{name:11} {next(iter(own.values())):5} {variant:7}"
            if not options.no_model:
                predicted, taken = model(name, variant, own)
                fits = taken.dsp <= XC7Z020.dsp and taken.lut <= XC7Z020.lut
                text += f" {published.work(own):15,} {predicted:14,} {published.cycles:13,.0f}"
                text += f" {published.cycles / predicted:6.2f} {taken.dsp:5} {taken.lut:6,}"
                text += f"  {'yes' if fits else 'NO'}"
            if options.run:
                at_own = options.run == "own" or (
                    options.run == "shown" and variant in OWN_RUNS.get(name, ())
                )
                ran = kept_run(name, variant, own if at_own else SMALL[name])
                good = good and ran.equal and ran.predicted == ran.simulated
                text += f"  {'own' if at_own else 'small':5} {ran.predicted:14,} {ran.simulated:14,}"
                text += f" {'yes' if ran.equal else 'NO'}  {ran.seconds:.0f} s"
            print(text, flush=True)
        if name == "seidel" and options.run == "shown":
            print(f"POM's schedule of it: {refused()}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
