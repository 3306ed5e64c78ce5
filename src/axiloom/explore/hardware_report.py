"""What was chosen by :mod:`axiloom.explore.hardware`, beside what there was: as a table, as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

from axiloom.drivergen.cost.model import Choice
from axiloom.explore.estimate import DEVICES, is_routed
from axiloom.explore.hardware import CLOSE, HardwareChoice, Tried, size
from axiloom.explore.products import Product
from axiloom.report.columns import columns


@dataclass(frozen=True)
class Simulated:
    """Of one design, whole: seconds, or why there are none."""

    seconds: float | None
    error: str | None = None


Runs = Mapping[str, Simulated]
"""By the name of the specification."""


def taken(choice: HardwareChoice, runs: Runs) -> Tried:
    """The fastest in simulation, where there was one; of what is as fast the smallest. Else the predicted."""
    known = [(seconds, tried) for tried in choice.found if (seconds := _simulated(runs, tried)) is not None]
    if not known:
        return choice.chosen
    fastest = min(seconds for seconds, _ in known)
    near = [tried for seconds, tried in known if seconds <= fastest * (1 + CLOSE)]
    return min(near, key=lambda tried: size(tried.variant.spec))


def _simulated(runs: Runs, tried: Tried) -> float | None:
    run = runs.get(tried.variant.spec.name)
    return None if run is None else run.seconds


def factor(choice: HardwareChoice, runs: Runs) -> tuple[float, bool]:
    """How many times as long the base takes, and whether that is simulated (or predicted)."""
    best = taken(choice, runs)
    ours, theirs = _simulated(runs, best), _simulated(runs, choice.base)
    if ours is not None and theirs is not None:
        return theirs / ours, True
    return choice.base.variant.seconds / best.variant.seconds, False


def table(choice: HardwareChoice, runs: Runs) -> str:
    """The designs that were tried, a star at the one that is taken; the base, and the device's limits."""
    limits = DEVICES[choice.device]
    best = taken(choice, runs)
    names = list(asdict(limits))
    head = ["", "hardware", "multiply-adds", "buffers", "stream", "DMA", "clock", "predicted", "simulated"]
    lines = [tuple(head + [name.upper() for name in names])]
    for tried in (*choice.refused, *choice.found, choice.base):
        lines.append(
            tuple(_line(choice, runs, tried, "*" if tried is best else "" if tried.fits else "too large"))
        )
    lines.append(("", choice.device, *[""] * 7, *[f"{value:,g}     " for value in astuple(limits)]))
    title = (
        f"{choice.work.name} under {choice.device}: {choice.variants} variants, {choice.excluded} of them "
        "too large by multipliers or memory alone"
    )
    return "\n".join([title, *columns(lines, "<<><><" + ">" * (3 + len(names))), *_said(choice, runs)])


def _line(choice: HardwareChoice, runs: Runs, tried: Tried, mark: str) -> list[str]:
    spec, used = tried.variant.spec, astuple(tried.estimate.used)
    run = runs.get(spec.name)
    simulated = "" if run is None else "failed" if run.seconds is None else f"{run.seconds * 1e3:.3f} ms"
    shares = zip(used, astuple(DEVICES[choice.device]), strict=True)
    return [
        mark,
        spec.name,
        str(spec.macs),
        "/".join(str(words) for words in spec.buffers.values()),
        str(spec.link.stream_width),
        "sg" if spec.link.dma.scatter_gather else "simple",
        f"{tried.variant.clock_hz / 1e6:g} MHz",
        f"{tried.variant.seconds * 1e3:.3f} ms",
        simulated,
        *(f"{value:,g} {value / limit:>4.0%}" for value, limit in shares),
    ]


def _said(choice: HardwareChoice, runs: Runs) -> list[str]:
    best, base = taken(choice, runs), choice.base
    times, simulated = factor(choice, runs)
    ours, theirs = (_simulated(runs, tried) if simulated else tried.variant.seconds for tried in (best, base))
    assert ours is not None
    assert theirs is not None
    how = "simulated" if simulated else "predicted"
    said = [
        f"{best.variant.spec.name} fits {choice.device}: {ours * 1e3:.3f} ms, {base.variant.spec.name} "
        f"{theirs * 1e3:.3f} ms ({how}), {times:.2f} times as long"
    ]
    if not base.fits:
        said.append(f"{base.variant.spec.name} does not fit {choice.device}")
    if is_routed(choice.device):
        unknown = [tried.variant.spec.name for tried in (best, base) if not tried.reached]
        if unknown:
            said.append(
                f"Not routed: {' and '.join(unknown)}; {choice.clock_hz / 1e6:g} MHz is assumed, and --route "
                "runs nextpnr"
            )
    else:
        said.append(
            f"No open tool routes {choice.device}: {choice.clock_hz / 1e6:g} MHz is assumed, and the "
            "vendor's tools can confirm it (axiloom board new)"
        )
    said += [f"{name}: {run.error}" for name, run in runs.items() if run.error]
    return said


def as_json(choice: HardwareChoice, runs: Runs) -> dict[str, Any]:
    """All of it, for programs."""
    times, simulated = factor(choice, runs)
    return {
        "work": choice.work.name,
        "device": choice.device,
        "board": choice.board,
        "limits": asdict(DEVICES[choice.device]),
        "variants": choice.variants,
        "excluded": choice.excluded,
        "chosen": _design(runs, taken(choice, runs)),
        "base": _design(runs, choice.base),
        "factor": round(times, 4),
        "factor_is": "simulated" if simulated else "predicted",
        "found": [_design(runs, tried) for tried in choice.found],
        "refused": [_design(runs, tried) for tried in choice.refused],
    }


def _design(runs: Runs, tried: Tried) -> dict[str, Any]:
    spec, seconds = tried.variant.spec, _simulated(runs, tried)
    return {
        "name": spec.name,
        "macs": spec.macs,
        "buffers": dict(spec.buffers),
        "stream_width": spec.link.stream_width,
        "scatter_gather": spec.link.dma.scatter_gather,
        "clock_hz": round(tried.variant.clock_hz),
        "clock_is_routed": tried.reached,
        "fits": tried.fits,
        "resources": asdict(tried.estimate.used),
        "predicted_ms": round(tried.variant.seconds * 1e3, 4),
        "simulated_ms": None if seconds is None else round(seconds * 1e3, 4),
        "products": _products(tried.variant.choices),
    }


def _products(choices: Sequence[tuple[Product, Choice]]) -> list[dict[str, Any]]:
    return [
        {
            "problem": f"{product.problem.M}x{product.problem.N}x{product.problem.K}:{product.problem.dtype}",
            "count": product.count,
            "flow": choice.candidate.flow,
            "loops": ",".join(choice.candidate.order),
            "tile": "x".join(map(str, choice.candidate.tile)),
            "pipeline": choice.pipeline,
            "predicted_ms": round(choice.seconds * 1e3, 4),
        }
        for product, choice in choices
    ]
