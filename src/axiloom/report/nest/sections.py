"""The sections of a nest's page that are text and tables. All figures come from the report's data."""

from __future__ import annotations

from html import escape
from typing import Any

from axiloom.nests.poly.vectors import directions
from axiloom.nests.poly.vectors import distances as as_text
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.legality import distances
from axiloom.nests.schedule.show import tree
from axiloom.report.nest.body import titles
from axiloom.report.nest.build import NAMES, interval, taken, verdict
from axiloom.report.nest.build import search as searched
from axiloom.report.numbers import count, percent
from axiloom.report.page.parts import head, table
from axiloom.report.page.roofline import Roofs, draw

Data = dict[str, Any]
PORT_BITS = 64
"""Of a stream into the SoC, for the roof that a run through a port has."""
PORT = f"port of {PORT_BITS} bits"

LOOPS = "Statements with the instance that each stands for; lanes of an unrolled loop start together."
DEPENDENCES = (
    "What must stay in order, with distances and directions over the loops as scheduled: RAW a value, WAR "
    "and WAW a place in memory. A schedule that breaks one is refused."
)
GANTT = (
    "Iterations that a pipe issues (green) and the last ones under way (grey); below, how full each FIFO is, "
    "of its depth. Foretold without RTL."
)
SLOTS = "What one iteration does in which slot. Iterations overlap: a new one starts every interval."
BANKS = (
    "A bank takes one write and as many reads a cycle as it has ports. Selected: accesses that find their "
    "bank at run time."
)
FIFOS = "Depths are the smallest that cost no cycle; the RTL counted the most places that were taken."
RESOURCES = "Of the circuit alone. Arrays of the caller lie outside it, in the banks that it wants."
ROOFLINE = (
    "Multiply-adds for each word of the caller's arrays, against multiply-adds in a cycle. Resident arrays "
    "are not bound by a port; the slope is what one port of the SoC would allow."
)


def header(data: Data) -> str:
    cycles, bound = data["cycles"], data["bound"]
    total = taken(cycles)
    tiles = [
        ("cycles", count(total), _beside(cycles)),
        (
            "times the bound",
            f"{total / max(cycles['bound'], 1):.3f} ×",
            f"{bound['work']:,} {bound['of']}, {bound['units']:,} a cycle",
        ),
        ("interval", str(data["ii"]), "of the busiest pipe"),
        ("at once", count(data["parallel"]), "multiply-adds" if data["multiply_adds"] else "instances"),
    ]
    result = data["result"]
    state = "open" if result is None else "right" if _is_right(data) else "wrong"
    schedule = data["schedule"]
    how = [schedule["file"] or ("found by search" if data["search"] else "as written")]
    how += ["one nest after the other"] if schedule["plain"] else []
    how += [data["device"]["name"], *([f"seed {data['seed']}"] if data["seed"] is not None else [])]
    title = f"{escape(data['name'])} <small>from {escape(data['source'])}</small>"
    said = " · ".join(escape(part) for part in how)
    return head(title, said, (state, _verdict(data)), tiles, f"Interval: {interval(data)}.")


def _is_right(data: Data) -> bool:
    cycles = data["cycles"]
    return bool(data["result"]["matches"] and cycles["predicted"] == cycles["simulated"])


def _beside(cycles: Data) -> str:
    if cycles["simulated"] is None:
        return "predicted"
    same = (
        "as predicted" if cycles["simulated"] == cycles["predicted"] else f"{cycles['predicted']:,} predicted"
    )
    return f"simulated, {same}"


def _verdict(data: Data) -> str:
    result = data["result"]
    if result is None:
        return "Nothing has run."
    text = verdict(result)
    if data["cycles"]["predicted"] != data["cycles"]["simulated"]:
        text += "; the cycles are not those predicted"
    return f"{text[0].upper()}{text[1:]}."


def loops(written: Schedule, schedule: Schedule, lines: list[str]) -> str:
    """Before and after, and the primitives between."""
    before, after = tree(written), tree(schedule)
    if not lines:
        return _code(before)
    return (
        '<div class="beside"><div><p class="note">As written</p>'
        f'{_code(before)}</div><div><p class="note">As scheduled</p>{_code(after)}</div></div>'
        f'<p class="note">By these primitives:</p>{_code(chr(10).join(lines))}'
    )


def _code(text: str) -> str:
    return f'<pre class="code"><code>{escape(text)}</code></pre>'


def dependences(schedule: Schedule) -> str:
    rows = [
        (
            f"{distance.kind} {escape(distance.source)} → {escape(distance.sink)}",
            f"<code>{escape(distance.array)}</code>",
            escape(
                ", ".join(f"{n} {d}" for n, d in zip(distance.loops, _texts(distance.vector), strict=True))
                or "–"
            ),
            escape(directions(distance.vector) if distance.loops else "–"),
        )
        for distance in distances(schedule)
    ]
    return table(("dependence", "array", "distance", "direction"), rows, "cards") if rows else ""


def _texts(vector: Any) -> list[str]:
    return [as_text((value,))[1:-1] for value in vector]


def passing(notes: list[Data]) -> str:
    """How arrays go from nest to nest."""
    titles: dict[str, str] = {
        "fifo": "through a FIFO",
        "tokens": "in memory, element by element",
        "end": "in memory, at the end",
    }
    rows = [
        (
            f"<code>{escape(note['array'])}</code>"
            + (f"<small> {escape(note['why'])}</small>" if note["why"] else ""),
            f"{note['producer']} → {note['consumer']}",
            titles[note["kind"]],
        )
        for note in notes
    ]
    return table(("between nests", "nests", "passes"), rows) if rows else ""


def memories(data: Data) -> str:
    rows = [
        (
            f"<code>{escape(memory['name'])}</code>",
            "the caller's" if memory["external"] else escape(memory["storage"]),
            count(memory["banks"]),
            f"{memory['depth']:,} × {memory['bits']}",
            escape(memory["partition"] or "–"),
            count(memory["reads"]),
            count(memory["writes"]),
            count(memory["selected"]),
        )
        for memory in data["memories"]
        if not memory["held"]
    ]
    head = (
        "array",
        "where",
        "banks",
        "words × bits",
        "partition",
        "reads",
        "writes",
        "bank found at run time",
    )
    return table(head, rows, "cards")


def fifos(data: Data) -> str:
    called = titles({fifo["name"]: fifo["like"] for fifo in data["fifos"]})
    rows = [
        (
            f"<code>{escape(called[fifo['name']])}</code>",
            f"{fifo['bits']} bits" if fifo["bits"] else "tokens",
            count(fifo["depth"]),
            count(fifo["predicted"]),
            "–" if fifo["simulated"] is None else count(fifo["simulated"]),
        )
        for fifo in data["fifos"]
        if fifo["like"] == fifo["name"]
    ]
    return table(("FIFO", "element", "depth", "most, predicted", "most, simulated"), rows) if rows else ""


def resources(data: Data) -> str:
    limits, used = data["device"]["limits"], data["resources"]
    rows = [
        (
            title,
            _share(used[name] / limits[name]),
            f"{used[name]:,g}",
            f"{data['predicted_resources'][name]:,g}",
            f"{limits[name]:,g}",
        )
        for name, title in NAMES.items()
    ]
    how = "by Yosys" if data["device"]["measured"] else "used"
    parts = [
        (escape(part), *(f"{amount[name]:,g}" for name in NAMES))
        for part, amount in sorted(data["parts"].items())
        if any(amount.values())
    ]
    resident = f'<p class="note">The resident arrays: {data["resident_bram36"]:g} BRAM36 beside that.</p>'
    return (
        table((escape(data["device"]["name"]), "share", how, "predicted", "available"), rows, "histogram")
        + table(("predicted, for", *NAMES.values()), parts)
        + (resident if data["resident_bram36"] else "")
    )


def _share(share: float) -> str:
    colour = "compute" if share <= 1 else "bad"
    bar = f'<span class="mini" style="--w:{min(100, 100 * share):.1f}%;--c:var(--{colour})"></span>'
    return bar + percent(share)


def search(data: Data) -> str:
    if not data["search"]:
        return ""
    return f'<p class="note">Search: {escape(searched(data["search"]))}.</p>'


def roofline(data: Data, words: int, bits: int) -> str:
    """`words` of the caller's arrays go in or out, each of `bits`. Empty without multiply-adds."""
    if not data["multiply_adds"] or not words:
        return ""
    rate = PORT_BITS / bits
    return draw(
        Roofs(
            x=data["multiply_adds"] / words,
            y=data["multiply_adds"] / taken(data["cycles"]),
            top=data["parallel"],
            slope=rate,
            side=f"{PORT}, {rate:g} word{'s' if rate != 1 else ''} a cycle",
            ceiling=f"{data['parallel']} multiply-adds",
            unit="multiply-adds",
            resident=True,
        )
    )
