"""What ``axiloom nest --plan`` and ``--run`` report: `build` as plain data for JSON, `table` for people.

The same design, inputs and seed give the same data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from axiloom.boards.synthesis import resources
from axiloom.nest.measure import Design, Run
from axiloom.nests.lower.explain import explain
from axiloom.nests.resources import Amount, estimate

Data = dict[str, Any]
SCHEMA = 1
DEVICES = {
    "xc7z010": resources.XC7Z010,
    "xc7z020": resources.XC7Z020,
    "xczu7ev": resources.XCZU7EV,
    "xck26": resources.XCK26,
}
"""Limits by name, in cells of the 7 series, which is what circuits of nests are counted in."""
NAMES = {"dsp": "DSP", "lut": "LUT", "ff": "FF", "bram36": "BRAM36"}


@dataclass(frozen=True)
class Setting:
    """What a report says beside the design. `schedule`: the file, or ``""``. `search`: what a search says of
    itself. `measured`: resources by Yosys."""

    source: str
    schedule: str = ""
    device: str = "xc7z020"
    seed: int | None = None
    measured: Any = None
    search: Mapping[str, Any] | None = None


def build(design: Design, run: Run | None, setting: Setting) -> Data:
    """`run` is None for what has not run: then ``result`` is None, and so are the cycles simulated."""
    busiest, bound = design.busiest, design.bound
    taken = estimate(design.lowered.circuit)
    used = setting.measured or taken.total
    limits = DEVICES[setting.device]
    return {
        "schema": SCHEMA,
        "source": setting.source,
        "name": design.written.name,
        "schedule": {
            "file": setting.schedule or None,
            "lines": list(design.schedule.log),
            "plain": design.plain,
        },
        "seed": setting.seed,
        "result": _result(run),
        "cycles": {
            "predicted": design.timing.cycles,
            "simulated": run.resident.simulated if run else None,
            "bound": bound.cycles,
        },
        "bound": {"of": bound.what, "work": bound.work, "units": bound.units},
        "ii": busiest["interval"],
        "why": busiest["why"],
        "parallel": design.parallel,
        "multiply_adds": design.multiply_adds,
        "resources": _amount(used),
        "predicted_resources": _amount(taken.total),
        "parts": {name: _amount(part) for name, part in taken.parts.items()},
        "resident_bram36": taken.resident.bram36,
        "device": {
            "name": setting.device,
            "limits": _amount(limits),
            "measured": setting.measured is not None,
            "fits": all(_amount(used)[name] <= _amount(limits)[name] for name in NAMES),
        },
        "search": dict(setting.search) if setting.search is not None else None,
        "pipes": design.summary["pipes"],
        "memories": design.summary["memories"],
        "fifos": _fifos(design, run),
        "notes": [asdict(note) for note in design.notes],
    }


def _result(run: Run | None) -> Data | None:
    if run is None:
        return None
    comparison = run.comparison
    return {
        "matches": comparison.matches,
        "elements": comparison.elements,
        "mismatches": comparison.mismatches,
        "first": comparison.first or None,
        "reference": run.reference.text,
        "warnings": list(run.reference.warnings),
    }


def _amount(amount: Amount | Any) -> Data:
    return {name: getattr(amount, name) for name in NAMES}


def _fifos(design: Design, run: Run | None) -> list[Data]:
    largest, peaks = design.timing.largest, run.resident.peaks if run else {}
    return [
        {
            "name": fifo.name,
            "bits": fifo.bits,
            "depth": fifo.depth,
            "predicted": largest[fifo.name],
            "simulated": peaks.get(fifo.name),
            "like": design.timing.alike[fifo.name],
        }
        for fifo in design.lowered.circuit.fifos
    ]


# --- for people --------------------------------------------------------------------------------------------


def table(design: Design, data: Data) -> str:
    """What was decided, how long it takes, what it takes, whether it is right."""
    cycles, result = data["cycles"], data["result"]
    lines = [
        f"{data['source']}: {data['name']}, {_schedule(data)}",
        f"Result: {verdict(result) if result else 'nothing has run: --run executes it'}",
        *(f"warning: {warning}" for warning in (result["warnings"] if result else ())),
        explain(design.lowered),
        "",
        f"Cycles: {_cycles(cycles)}",
        f"Bound: {_bound(data)}",
        f"Interval: {interval(data)}",
        f"Resources of {data['device']['name']}: {_resources(data)}",
    ]
    if data["resident_bram36"]:
        lines.append(
            f"Resident arrays: {data['resident_bram36']:g} BRAM36 in the banks they have here, beside that"
        )
    if data["search"]:
        lines.append(f"Search: {search(data['search'])}")
    return "\n".join(lines)


def _schedule(data: Data) -> str:
    schedule = data["schedule"]
    count = len(schedule["lines"])
    what = schedule["file"] or ("found by search" if data["search"] else "as written")
    text = f"{what}, {count} primitive{'s' if count != 1 else ''}" if count else what
    return f"{text}, one nest after the other" if schedule["plain"] and len(data["pipes"]) > 1 else text


def _cycles(cycles: Mapping[str, int | None]) -> str:
    predicted, simulated = cycles["predicted"], cycles["simulated"]
    if simulated is None:
        return f"{predicted:,} predicted"
    equal = "the same" if simulated == predicted else "WRONG, not the same"
    return f"{predicted:,} predicted, {simulated:,} simulated: {equal}"


def taken(cycles: Mapping[str, int | None]) -> int:
    """The simulated cycles where there are, else the predicted ones."""
    total = cycles["simulated"] if cycles["simulated"] is not None else cycles["predicted"]
    assert total is not None
    return total


def _bound(data: Data) -> str:
    bound, cycles = data["bound"], data["cycles"]
    ratio = taken(cycles) / max(cycles["bound"], 1)
    return (
        f"{cycles['bound']:,} cycles ({bound['work']:,} {bound['of']}, {bound['units']:,} a cycle); this is "
        f"{ratio:.3f} times that"
    )


def interval(data: Data) -> str:
    """Of the busiest pipe, with the reason."""
    every = "1 cycle" if data["ii"] == 1 else f"{data['ii']} cycles"
    return f"{every} in the busiest pipe{': ' + data['why'] if data['why'] else ''}"


def _resources(data: Data) -> str:
    used, limits = data["resources"], data["device"]["limits"]
    shares = ", ".join(f"{used[name]:,g} of {limits[name]:,g} {title}" for name, title in NAMES.items())
    how = "by Yosys" if data["device"]["measured"] else "predicted"
    return f"{shares} ({how}){'' if data['device']['fits'] else ': DOES NOT FIT'}"


def search(data: Data) -> str:
    proof = (
        "no other point that fits by its forecast takes fewer cycles"
        if data["proven"]
        else "not proven" + (f": no point takes fewer than {data['bound']:,} cycles" if data["bound"] else "")
    )
    notes = "".join(f"; {note}" for note in data["notes"])
    return f"{data['points']:,} points declared, {data['looked_at']:,} looked at; {proof}{notes}"


def verdict(result: Data) -> str:
    reference = result["reference"]
    if result["matches"]:
        return f"equal bit for bit in all {result['elements']:,} elements to {reference}"
    return (
        f"WRONG in {result['mismatches']:,} of {result['elements']:,} elements; first: {result['first']} "
        f"({reference})"
    )
