"""Kernels beside matmul and convolution on the engines that there are, each through the whole system on RTL.

`cycles` and `limit` are of the fabric, from the first instruction of the driver to the result in memory; the
limit is what the busier stream or the array needs at least. `CPU alone` is the same function as plain loops
at -O3, in cycles of the fabric too, so `faster` is CPU alone / cycles. `advice` is what the report of the run
says by an estimate, before anything is simulated. Each result is compared with NumPy's. The large depthwise
layer is MobileNet's first one, whole; others are small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from axiloom import isa
from axiloom.cosim.system import System
from axiloom.drivergen import parse_workload
from axiloom.isa import AcceleratorSpec
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import report_of


@dataclass(frozen=True)
class Case:
    kernel: str
    engine: str
    problem: str
    sg: bool = True
    """A DMA that reads where the operands lie, and streams of 64 bits; else the CPU copies tiles, and 32."""

    @property
    def spec(self) -> AcceleratorSpec:
        spec = isa.builtin(self.engine, data_type=parse_workload(self.problem).dtype)
        if not self.sg:
            return spec
        return isa.revise(spec, stream_width=64, dma=replace(spec.link.dma, scatter_gather=True))


CASES: Sequence[Case] = (
    Case("matvec", "v1", "matvec:64x64", sg=False),
    Case("matvec", "v2", "matvec:64x64", sg=False),
    Case("matvec", "v3", "matvec:64x64", sg=False),
    Case("matvec", "v4_16", "matvec:256x256:int8"),
    Case("matvec", "conv_v4", "matvec:256x256:int8"),
    Case("vecmat", "v4_16", "vecmat:256x256:int8"),
    Case("vecmat", "conv_v4", "vecmat:256x256:int8"),
    Case("dot", "v3", "dot:1024", sg=False),
    Case("dot", "conv_v4", "dot:1024:int8"),
    Case("batch matmul", "v3", "bmm:4x32x32x32"),
    Case("batch matmul", "v4_16", "bmm:4x64x64x64:int8"),
    Case("batch matmul", "conv_v4", "bmm:4x64x64x64:int8"),
    Case("grouped conv", "conv_v4", "conv:28x28,32,3x3,32,pad=1,groups=4:int8"),
    Case("grouped conv", "conv_v4", "conv:28x28,32,3x3,32,pad=1,groups=16:int8"),
    Case("depthwise", "conv_v4", "dwconv:28x28,8,3x3,pad=1:int8", sg=False),
    Case("depthwise", "conv_v4", "dwconv:28x28,8,3x3,pad=1:int8"),
    Case("depthwise", "conv_v4", "dwconv:14x14,64,3x3,pad=1:int8"),
    Case("depthwise", "conv_v4", "dwconv:112x112,32,3x3,pad=1:int8"),
    Case("depthwise", "conv_v4", "dwconv:56x56,64,3x3,stride=2,pad=1:int8"),
)
"""A kernel is added here, with an engine and a problem that the command line understands."""


@dataclass(frozen=True)
class Row:
    case: Case
    equal: bool
    cycles: int
    ratio: float | None
    cpu: int
    """Alone, in fabric cycles."""
    advice: str | None


def measured(case: Case) -> Row:
    """One run on RTL, and one on the CPU alone."""
    report = report_of(ProblemRun(Workload.of(case.problem), System(case.spec)), against="loops")
    clocks = report["config"]["clocks"]
    alone = report["cpu"]["counters"]["cpu-cycles"] * clocks["fabric_hz"] // clocks["cpu_hz"]
    return Row(
        case,
        report["result"]["matches"] is True,
        report["fabric"]["cycles"],
        report["limit"]["ratio"],
        alone,
        report.get("advice"),
    )


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """The table, as Markdown."""
    heads = ("kernel", "engine", "problem", "DMA", "equal to NumPy", "cycles", "limit.ratio", "CPU alone")
    yield f"| {' | '.join(heads)} | faster | advice |"
    yield "|---|---|---|---|---|---:|---:|---:|---:|---|"
    for row in rows:
        case = row.case
        cells = [
            *(case.kernel, case.engine, case.problem, "sg, 64 bits" if case.sg else "simple, 32 bits"),
            "yes" if row.equal else "NO",
            *(f"{row.cycles:,}", f"{row.ratio:.2f}", f"{row.cpu:,}", f"{row.cpu / row.cycles:.2f}"),
            "the CPU" if row.advice else "",
        ]
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    rows = [measured(case) for case in CASES]
    print("\n".join(lines(rows)))
    wrong = [row.case.problem for row in rows if not row.equal]
    if wrong:
        raise SystemExit(f"not equal to NumPy: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
