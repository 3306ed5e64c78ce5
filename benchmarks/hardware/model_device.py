"""The functional model in the accelerator's place (`axiloom run --rtl model`) beside our RTL: all built-ins.

For each case the same problem runs on both. The driver (C and ELF), the result, the words on the streams and
the transfers must be equal. Cycles need not be: the model's are stated. Build times count what was not in the
cache; all kernels with the same streams and DMA share the model's build. Aim: equal in all cases.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from axiloom import isa
from axiloom.cosim.job import Result
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.isa import AcceleratorSpec
from axiloom.read.mlir.model import read as read_model
from axiloom.run.compare import compare
from axiloom.run.network import MARKS, Network, NetworkRun
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import Run, Watch, simulate

FIXTURES = Path(__file__).parents[2] / "tests" / "fixtures" / "quantised"
MATMUL, CONV, COPY = "matmul:64x64x64", "conv:14x14,16,3x3,16,pad=1", "copy:5000"
MOVED = ("words_in", "words_out", "transfers_in", "transfers_out")


@dataclass(frozen=True)
class Case:
    """An accelerator and what runs on it: a problem, or a network of the fixtures."""

    name: str
    problem: str
    kind: str = "int32"
    width: int = 32
    scatter_gather: bool = False
    post: bool = False

    @property
    def spec(self) -> AcceleratorSpec:
        spec = isa.builtin(self.name, data_type=self.kind, post=self.post)
        dma = replace(spec.link.dma, scatter_gather=self.scatter_gather)
        return isa.revise(spec, stream_width=self.width, dma=dma)

    def run(self, *, model: bool) -> Run[Any]:
        system = System(self.spec, model=model)
        if ":" in self.problem:
            return ProblemRun(Workload.of(f"{self.problem}:{self.kind}"), system)
        loaded = read_model(FIXTURES / f"{self.problem}.mlir")
        return NetworkRun(Network(self.problem, loaded.mlir, loaded.weights), system)


def cases() -> Iterator[Case]:
    for name in isa.builtins():
        yield Case(name, MATMUL)
    for name, problem in (("conv_v3", CONV), ("conv_v4", CONV), ("loopback", COPY), ("identity", COPY)):
        yield Case(name, problem)
    for name, problem, kind, width, scatter_gather in (
        ("v1_4", MATMUL, "int8", 32, True),
        ("v2_8", MATMUL, "int16", 64, True),
        ("v3_8", MATMUL, "int32", 128, False),
        ("v3_16", MATMUL, "int8", 64, False),
        ("v4_16", MATMUL, "int8", 128, True),
        ("v4_16", MATMUL, "int16", 64, True),
        ("conv_v3", CONV, "int8", 64, True),
        ("conv_v4", CONV, "int8", 64, True),
        ("conv_v4", CONV, "int16", 128, False),
        ("loopback", COPY, "int32", 128, True),
        ("identity", COPY, "int32", 64, True),
    ):
        yield Case(name, problem, kind, width, scatter_gather)
    for name, network, width, scatter_gather in (
        ("v3_16", "digits_mlp", 32, False),
        ("v4_16", "digits_mlp", 64, True),
        ("conv_v4", "digits_cnn", 64, True),
    ):
        yield Case(name, network, "int8", width, scatter_gather, post=True)


@dataclass(frozen=True)
class Side:
    """What one of both gave."""

    result: Result
    right: bool
    driver: list[bytes]
    """C and ELF."""
    build_s: float
    run_s: float


def side(case: Case, *, model: bool) -> Side:
    with tempfile.TemporaryDirectory(prefix="axiloom-") as folder:
        run = case.run(model=model)
        begin = time.perf_counter()
        Soc(run.system).build()
        built = time.perf_counter()
        result = simulate(run, Watch(keep=Path(folder)))
        driver = [
            path.read_bytes() for path in sorted(Path(folder).glob("*")) if path.suffix in (".c", ".elf")
        ]
        return Side(
            result,
            bool(compare(result, run.expected)["matches"]),
            driver,
            built - begin,
            result.simulation["wall_s"],
        )


def differences(rtl: Side, model: Side) -> list[str]:
    names = [name for name, side in (("RTL wrong", rtl), ("model wrong", model)) if not side.right]
    for symbol, array in rtl.result.outputs.items():
        if symbol != MARKS and not np.array_equal(array, model.result.outputs[symbol]):
            names.append(symbol)
    names += [name for name in MOVED if rtl.result.fabric[name] != model.result.fabric[name]]
    if rtl.driver != model.driver or not rtl.driver:
        names.append("driver")
    return names


def main() -> None:
    print("one problem on our RTL and on the functional model: `same` is result, words, transfers, C and ELF")
    print(
        f"{'accelerator':<14}{'type':<7}{'bits':>4} {'DMA':<7}{'problem':<28}{'words in':>9}{'out':>8}"
        f"{'transfers':>10}  {'same':<5}{'cycles: RTL':>12}{'stated':>9}{'of RTL':>8}"
        f"{'build s: RTL':>13}{'model':>7}{'run s: RTL':>12}{'model':>7}"
    )
    wrong = []
    for case in cases():
        rtl, model = side(case, model=False), side(case, model=True)
        fabric, stated = rtl.result.fabric, model.result.fabric
        differing = differences(rtl, model)
        if differing:
            wrong.append(f"{case.name} {case.kind} {case.problem}: {', '.join(differing)}")
        print(
            f"{case.name + '+post' * case.post:<14}{case.kind:<7}{case.width:>4} "
            f"{'sg' if case.scatter_gather else 'simple':<7}{case.problem:<28}{fabric['words_in']:>9,}"
            f"{fabric['words_out']:>8,}{fabric['transfers_in'] + fabric['transfers_out']:>10,}  "
            f"{'no' if differing else 'yes':<5}{fabric['cycles']:>12,}{stated['cycles']:>9,}"
            f"{stated['cycles'] / fabric['cycles']:>8.2f}"
            f"{rtl.build_s:>13.1f}{model.build_s:>7.1f}{rtl.run_s:>12.2f}{model.run_s:>7.2f}",
            flush=True,
        )
    for line in wrong:
        print(f"differs: {line}")
    print(f"each: same on both: {'no' if wrong else 'yes'}")
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
