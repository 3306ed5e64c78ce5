"""Networks of ``examples/networks``, ``--select egraph`` against matching: cycles, places, compile time.

Both sides run in one process on the simulated SoC, and every result is compared with NumPy. AXILOOM_NETWORKS
names some of the networks, AXILOOM_SYSTEMS some of the systems. A network that is not slower on any system is
what makes ``egraph`` the default of networks.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace

from axiloom import isa
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import DEFAULTS
from axiloom.frontend import Model
from axiloom.isa import AcceleratorSpec
from axiloom.run.network import Network, NetworkRun
from axiloom.run.run import report_of
from axiloom.sweep.networks import example

NETWORKS = ("digits_mlp", "digits_cnn", "tinybert", "resnet18")


@dataclass(frozen=True)
class Case:
    """Accelerators of a system; with scatter-gather they round as well."""

    name: str
    accelerators: tuple[str, ...]
    queued: bool

    def specs(self) -> list[AcceleratorSpec]:
        found = []
        for name in self.accelerators:
            made = isa.builtin(name, None, "int8", "bitmask", self.queued)
            if self.queued:
                made = replace(made, dma=replace(made.dma, scatter_gather=True), stream_width=64)
            found.append(made)
        return isa.place(found) if len(found) > 1 else found


CASES = (
    Case("v4", ("v4_16",), True),
    Case("conv", ("conv_v4",), True),
    Case("both", ("conv_v4", "v4_16"), True),
    Case("copied", ("conv_v4", "v4_16"), False),
)


def one(model: Model, name: str, case: Case, selecting: bool) -> tuple[int, float, str]:
    """Fabric cycles of the whole program, CPU seconds of its compilation, what went where."""
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
    report = report_of(run)
    assert report["result"]["matches"], report["result"]
    counted = dict.fromkeys((*(spec.name for spec in run.system.specs), "cpu"), 0)
    for layer in driver.layers:
        if layer.multiply_adds:
            counted["cpu" if layer.device is None else run.system.specs[layer.device].name] += 1
    cycles = int(report["fabric"]["cycles"])
    return cycles, seconds, ", ".join(f"{many} {where}" for where, many in counted.items() if many)


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
            before, old, _ = one(model, name, case, False)
            after, new, where = one(model, name, case, True)
            print(
                f"{name:<12} {case.name:<8} {before:>12,} {after:>12,} {before / after:>6.3f} "
                f"{old:>6.1f} {new:>6.1f}  {where}",
                flush=True,
            )
            if after > before:
                slower.append(f"{name} on {case.name}")
    print(f"slower: {', '.join(slower) or 'none'}")
