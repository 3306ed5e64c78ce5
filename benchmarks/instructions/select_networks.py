"""Networks of ``examples/networks``, ``--select egraph`` against matching: cycles, places, compile time.

Both sides run on the simulated SoC; every result is compared with NumPy. Where both make the same program,
it runs once, and with AXILOOM_RUN=different not at all. AXILOOM_NETWORKS names some of the networks,
AXILOOM_SYSTEMS some of the systems. ``egraph`` is the default of networks because none is slower on any.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from functools import cached_property

from axiloom import boards, isa
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import DEFAULTS
from axiloom.explore.hardware import most
from axiloom.isa import AcceleratorSpec
from axiloom.read.context.model import Model
from axiloom.run.network import Network, NetworkRun
from axiloom.run.run import report_of
from axiloom.sweep.networks import example

ONLY_DIFFERENT = os.environ.get("AXILOOM_RUN") == "different"
NETWORKS = ("digits_mlp", "digits_cnn", "lstm", "patches", "tinybert", "resnet18", "mobilenet_v2")


@dataclass(frozen=True)
class Case:
    """Accelerators of a system; with scatter-gather they round as well. `full`: with as many multiply-adds as
    the board's part has multipliers for, as `axiloom run` takes by default."""

    name: str
    accelerators: tuple[str, ...]
    queued: bool
    full: bool = False

    def specs(self) -> list[AcceleratorSpec]:
        specs = []
        for name in self.accelerators:
            spec = isa.builtin(name, None, "int8", "bitmask", self.queued)
            if self.queued:
                spec = spec.replace(dma=replace(spec.link.dma, scatter_gather=True), stream_width=64)
            if self.full:
                spec = isa.revise(spec, macs=most(spec, boards.DEFAULT).macs)
            specs.append(spec)
        return isa.place(specs) if len(specs) > 1 else specs


CASES = (
    Case("v4", ("v4_16",), True),
    Case("conv", ("conv_v4",), True),
    Case("both", ("conv_v4", "v4_16"), True),
    Case("copied", ("conv_v4", "v4_16"), False),
    Case("full", ("conv_v4", "v4_16"), True, full=True),
)


@dataclass(frozen=True)
class Side:
    """A network compiled one way: CPU seconds of it, what went where."""

    run: NetworkRun
    seconds: float
    where: str

    @cached_property
    def cycles(self) -> int:
        """Fabric cycles of the whole program, whose results are NumPy's."""
        report = report_of(self.run)
        assert report["result"]["matches"], report["result"]
        return int(report["fabric"]["cycles"])


def compiled(model: Model, name: str, case: Case, selecting: bool) -> Side:
    run = NetworkRun(
        Network(name, model.mlir, model.weights),
        System(case.specs()),
        DEFAULTS,
        auto=True,
        selecting=selecting,
    )
    begun = time.process_time()
    driver = run.driver
    seconds = time.process_time() - begun
    counted = dict.fromkeys((*(spec.name for spec in run.system.specs), "cpu"), 0)
    for layer in driver.layers:
        if layer.multiply_adds:
            counted["cpu" if layer.device is None else run.system.specs[layer.device].name] += 1
    return Side(run, seconds, ", ".join(f"{many} {where}" for where, many in counted.items() if many))


def row(name: str, case: Case, before: Side, after: Side) -> tuple[str, bool]:
    """A line of the table, and whether egraph is slower. The same program is simulated once, or not."""
    same = before.run.driver.sources == after.run.driver.sources
    texts = f"{before.seconds:>6.1f} {after.seconds:>6.1f}  {after.where}"
    if same and ONLY_DIFFERENT:
        return f"{name:<12} {case.name:<8} {'-':>12} {'-':>12} {1:>6.3f} {texts}; the same program", False
    old, new = before.cycles, before.cycles if same else after.cycles
    said = "; the same program" if same else ""
    return f"{name:<12} {case.name:<8} {old:>12,} {new:>12,} {old / new:>6.3f} {texts}{said}", new > old


def main() -> None:
    networks = os.environ.get("AXILOOM_NETWORKS", ",".join(NETWORKS)).split(",")
    systems = os.environ.get("AXILOOM_SYSTEMS", ",".join(case.name for case in CASES)).split(",")
    head = ("network", "system", "matching", "egraph", "ratio", "s", "s", "products, egraph")
    print("{:<12} {:<8} {:>12} {:>12} {:>6} {:>6} {:>6}  {}".format(*head))
    slower = []
    for name in networks:
        model = example(name)
        for case in CASES:
            if case.name not in systems:
                continue
            line, is_slower = row(name, case, *(compiled(model, name, case, how) for how in (False, True)))
            print(line, flush=True)
            if is_slower:
                slower.append(f"{name} on {case.name}")
    print(f"slower: {', '.join(slower) or 'none'}")
