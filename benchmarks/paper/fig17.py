"""Figure 17: TinyBERT from words to logits, on the CPU alone and with v4_16, by flow and by passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from axiloom import isa
from axiloom.drivergen.cost.selection import SQUARE
from axiloom.isa import AcceleratorSpec
from axiloom.read.mlir.model import read as read_model
from axiloom.report import network as network_report
from axiloom.run.resolve import BEST
from axiloom.sweep import networks
from axiloom.sweep.networks import fingerprint
from benchmarks.paper import plots
from benchmarks.paper.ablation import scatter_gather
from benchmarks.paper.experiment import Case, Experiment, Measured, Options, Row, ms, times

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NETWORK = "tinybert"
CPU, NS, CHOSEN, ALL = "CPU, NEON", "Ns", "Best", "all passes"
SIDES = (CPU, NS, CHOSEN, ALL)


def accelerator(*, post: bool) -> AcceleratorSpec:
    """v4_16 for int8, streams of 64 bits; with post-processing also a DMA in scatter-gather mode."""
    spec = isa.builtin("v4_16", None, "int8", post=post).replace(stream_width=64)
    return scatter_gather(spec) if post else spec


def cases(options: Options) -> list[Case]:
    model = read_model(options.model) if options.model else networks.example(NETWORK)
    name = options.model.stem if options.model else NETWORK
    key, plain, post = networks.keep(model), accelerator(post=False), accelerator(post=True)
    code, board = fingerprint(options.board), options.board
    square, published = (SQUARE,) * 3, "published"
    sides = {
        CPU: networks.on_cpu(key, name, plain, code=code, board=board),
        NS: networks.on_soc(
            key, name, plain, flow="Ns", pipeline=published, tile=square, code=code, board=board
        ),
        CHOSEN: networks.on_soc(key, name, plain, flow=BEST, pipeline=published, code=code, board=board),
        ALL: networks.on_soc(key, name, post, flow=BEST, pipeline=None, code=code, board=board),
    }
    if options.quick:
        del sides[NS], sides[CHOSEN]
    return [Case({"network": name}, sides)]


def _parts(measured: Measured, side: str) -> dict[str, Any] | None:
    """Time offloaded and on the host, beside the CPU alone."""
    layers = measured.sides.get(side, {}).get("layers")
    if side == CPU or layers is None:
        return None
    alone = measured.sides.get(CPU, {}).get("layers")
    return network_report.offload(network_report.compared(layers, alone), alone)


def table(measured: Sequence[Measured]) -> list[Row]:
    rows = []
    for case in measured:
        for side in (side for side in SIDES if side in {*case.sides, *case.missing}):
            part = _parts(case, side)
            host = None if side != CPU else case.get(side)
            rows.append(
                {
                    "side": side,
                    "ms": ms(case.get(side)),
                    "offloaded, ms": "-" if part is None else f"{part['ms']:,.3f}",
                    "host, ms": ms(host) if part is None else f"{part['host_ms']:,.3f}",
                    "offloaded": "-" if part is None else f"{part['share']:.1%}",
                    "limit, cycles": "-" if part is None else f"{part['limit_cycles']:,}",
                    "limit, times": times(None if part is None else _ratio(part, case.sides[side])),
                    "speed, offloaded": times(None if part is None else part["speed_up"]),
                    "speed, end to end": times(case.ratio(CPU, side)),
                }
            )
    return rows


def _ratio(part: Mapping[str, Any], figures: Mapping[str, Any]) -> float | None:
    """Fabric cycles of the offloaded layers over the sum of their limits."""
    if not part["limit_cycles"]:
        return None
    bounds = [row["limit"] for row in figures["layers"] if row["limit"] and row["limit"]["ratio"]]
    return float(sum(bound["ratio"] * bound["cycles"] for bound in bounds) / part["limit_cycles"])


def conclude(measured: Sequence[Measured]) -> str:
    said = []
    for case in measured:
        for side in (NS, CHOSEN, ALL):
            part = _parts(case, side)
            if part is None or part["speed_up"] is None:
                continue
            said.append(
                f"{side}: the offloaded part {part['speed_up']:.2f} times as fast as the CPU with NEON, "
                f"end to end {times(case.ratio(CPU, side))} times."
            )
        exact = sum(side in case.sides for side in SIDES)
        said.append(
            f"{exact} of {exact + len(case.missing)} sides of {case.labels['network']} ran, all exact."
        )
    return " ".join(said)


def plot(figure: Figure, measured: Sequence[Measured]) -> None:
    axes = figure.subplots()
    case = measured[0]
    names = [side for side in SIDES if side in case.sides]
    parts = [_parts(case, side) for side in names]
    own = [0.0 if part is None else part["ms"] for part in parts]
    host = [
        (case.get(side) or 0) / 1e6 if part is None else part["host_ms"]
        for side, part in zip(names, parts, strict=True)
    ]
    places = range(len(names))
    axes.bar(places, host, 0.6, label="host", color=plots.COLOURS[1])
    axes.bar(places, own, 0.6, bottom=host, label="offloaded", color=plots.COLOURS[0])
    axes.set_xticks(places, names)
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel("ms")
    plots.legend(figure, axes)


EXPERIMENT = Experiment(
    "fig17",
    "Figure 17: TinyBERT end to end, int8, v4_16 with streams of 64 bits; all passes: with post-processing "
    "and scatter-gather",
    cases,
    table,
    conclude,
    plot,
    takes=("model",),
)
