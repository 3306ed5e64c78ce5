"""The drawings of the page: shares as bars of HTML, and its roofline. Colours come from page.css."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from axiloom.report.build import gain_text, of_guess
from axiloom.report.numbers import count, duration, percent, size
from axiloom.report.page.parts import table, work
from axiloom.report.page.roofline import Roofs, draw
from axiloom.report.page.traces import Trace, link
from axiloom.report.types import Loss, Report, Transfers

_LABEL_SHARE = 0.07  # a segment narrower than this has no room for its figure
_ROWS = 14  # sizes of transfers that get a row each; more are grouped by powers of two


def _largest_first(losses: Iterable[Loss]) -> list[Loss]:
    return sorted((loss for loss in losses if loss["cycles"]), key=lambda loss: -loss["cycles"])


def stack(parts: Iterable[Loss], width: float = 1) -> str:
    """One bar whose parts add up to the run; `width` of the page is how long that is."""
    parts = [part for part in parts if part["cycles"]]
    bar = "".join(
        f'<div class="part" style="width:{100 * width * part["share"]:.3f}%;--c:var(--{part["loss"]})" '
        f'title="{escape(part["title"])}: {count(part["cycles"])} cycles, {percent(part["share"])}">'
        + (f"<span>{100 * part['share']:.0f} %</span>" if width * part["share"] >= _LABEL_SHARE else "")
        + "</div>"
        for part in parts
    )
    alt = "; ".join(f"{part['title']} {percent(part['share'])}" for part in parts)
    return f'<div class="stack" role="img" aria-label="{escape(alt)}">{bar}</div>\n'


def losses(report: Report, trace: Trace | None = None) -> str:
    """The run as one bar, the limit below it to scale, and its parts as a table."""
    parts = _largest_first(report["losses"])
    hz = report["config"]["clocks"]["fabric_hz"]
    rows = []
    for loss in parts:
        width = 100 * loss["cycles"] / max(part["cycles"] for part in parts)
        remedies = "".join(_remedy(loss, text) for text in loss["remedies"])
        rows.append(
            (
                f'<i class="chip" style="--c:var(--{loss["loss"]})"></i>{escape(loss["title"])}'
                f"{link(trace, 'losses', loss['loss'])}<small>{escape(loss['definition'])}</small>",
                _mini(width, loss["loss"]) + percent(loss["share"]),
                count(loss["cycles"]),
                duration(loss["cycles"] / hz),
                remedies or "–",
            )
        )
    head = ("class", "share", "cycles", "time", "may win it back")
    return stack(parts) + _limit(report) + table(head, rows, "losses")


def _remedy(loss: Loss, text: str) -> str:
    gain = gain_text(loss, text)
    return f"<code>{escape(text)}</code>" + (f"<small>{gain}</small>" if gain else "")


def _mini(width: float, colour: str) -> str:
    return f'<span class="mini" style="--w:{width:.1f}%;--c:var(--{colour})"></span>'


def _limit(report: Report) -> str:
    bound, total = report["limit"], max(report["fabric"]["cycles"], 1)
    if bound["ratio"] is None:
        return ""
    rows = []
    for name, cycles in (("stream", bound["stream_cycles"]), ("array", bound["array_cycles"])):
        if cycles is None:
            continue
        rule = ": the limit" if name == bound["by"] else ""
        share = cycles / total
        text = f"the {name} needs {count(cycles)} cycles, {percent(share)}{rule}"
        rows.append(
            f'<div class="bound"><div class="line" style="width:{max(100 * share, 0.3):.3f}%"></div>'
            f"<span>{escape(text)}</span></div>"
        )
    return f'<div class="bounds">{"".join(rows)}</div>\n'


# --- what would win time ---------------------------------------------------------------------------------


def remedies(report: Report) -> str:
    """A bar for each remedy: the cycles that the run has with it. Hatched: foretold."""
    now = report["fabric"]["cycles"]
    measured = {row["options"]: row for row in report.get("tried", []) if row["cycles"]}
    foretold = {
        text: loss["gains"][text]
        for loss in report["losses"]
        for text in loss["remedies"]
        if text in loss.get("gains", {})
    }
    cycles = {text: now / gain["times"] for text, gain in foretold.items()}
    cycles |= {text: float(row["cycles"] or 0) for text, row in measured.items()}
    if not cycles:
        return ""
    rows = [_gain("this run", 1, False, f"<b>{count(now)}</b> cycles")]
    for text, left in sorted(cycles.items(), key=lambda row: row[1]):
        times = f"<b>{now / left:.2f} ×</b> as fast"
        if text in measured:
            said = f"measured, {escape(measured[text]['said'])}: {count(round(left))}"
            if text in foretold:
                said += f" (foretold {foretold[text]['times']:.2f} ×)"
        else:
            said = f"{'at most, ' if foretold[text]['at_most'] else ''}foretold: {count(round(left))}"
        rows.append(
            _gain(f"<code>{escape(text)}</code>", left / now, text not in measured, f"{times}, {said}")
        )
    return f'<div class="gains">{"".join(rows)}</div>'


def _gain(name: str, share: float, hatched: bool, said: str) -> str:
    kind = "bar foretold" if hatched else "bar"
    return (
        f'<div>{name}</div><div class="room"><div class="{kind}" style="--w:{min(100 * share, 100):.1f}%;'
        f'--c:var(--compute)"></div></div><div class="said">{said}</div>'
    )


# --- transfers ---------------------------------------------------------------------------------------


def transfers(report: Report, trace: Trace | None = None) -> str:
    """How many transfers of each size, and how fast they went."""
    hz = report["config"]["clocks"]["fabric_hz"]
    tables = []
    for channel, title in (("mm2s", "MM2S, to the device"), ("s2mm", "S2MM, from the device")):
        groups = _grouped(transfer for transfer in report["transfers"] if transfer["channel"] == channel)
        if not groups:
            continue
        most = max(number for _, number, _, _ in groups)
        rows = [
            (
                escape(name) + link(trace, "transfers", f"{channel} {moved // max(number, 1)}"),
                _mini(100 * number / most, channel) + count(number),
                size(moved),
                f"{moved / (cycles / hz) / 1e6:,.1f}",
            )
            for name, number, moved, cycles in groups
            if cycles
        ]
        tables.append(table((escape(title), "transfers", "moved", "MB/s"), rows, "histogram"))
    if not tables:
        return ""
    width = 4 * report["limit"]["words_per_cycle"] * hz / 1e6
    return "".join(tables) + f'<p class="note">The stream carries {width:,.0f} MB/s at most.</p>'


def _grouped(transfers: Iterable[Transfers]) -> list[tuple[str, int, int, int]]:
    """(size, transfers, bytes, cycles) by size, or by powers of two where there are many sizes."""
    ordered = sorted(transfers, key=lambda transfer: transfer["bytes"])
    if len(ordered) <= _ROWS:
        return [
            (
                size(transfer["bytes"]),
                transfer["count"],
                transfer["count"] * transfer["bytes"],
                transfer["cycles"],
            )
            for transfer in ordered
        ]
    groups: dict[int, tuple[int, int, int]] = {}
    for transfer in ordered:
        key = transfer["bytes"].bit_length()
        number, moved, cycles = groups.get(key, (0, 0, 0))
        groups[key] = (
            number + transfer["count"],
            moved + transfer["count"] * transfer["bytes"],
            cycles + transfer["cycles"],
        )
    return [
        (f"{size(1 << key - 1)} to {size(1 << key)}", *group) for key, group in sorted(groups.items()) if key
    ]


# --- roofline ----------------------------------------------------------------------------------------


def roofline(report: Report) -> str:
    """Where the run is below the roofs of stream and array; empty without known multiply-adds."""
    bound, fabric = report["limit"], report["fabric"]
    words = max(fabric["words_in"], fabric["words_out"])
    if not bound["multiply_adds"] or not words or bound["ratio"] is None:
        return ""
    top = 2 * bound["macs_per_cycle"]
    per_cycle = bound["words_per_cycle"]
    return draw(
        Roofs(
            x=bound["multiply_adds"] / words,
            y=2 * bound["multiply_adds"] / work(report).cycles,
            top=top,
            slope=2 * per_cycle,
            side=f"stream, {per_cycle} word{'s' if per_cycle > 1 else ''} a cycle",
            ceiling=f"array, {top} operations{of_guess(report)}",
        )
    )
