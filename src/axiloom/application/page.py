"""A validation as one HTML page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from axiloom.application.result import causes, figure, rtl, verdict
from axiloom.application.validate import Validated
from axiloom.base.files import write_whole
from axiloom.report.page.document import document
from axiloom.report.page.parts import head, repeat, section, table
from axiloom.report.page.svg import Drawing, fitted

OPERATORS = (
    "Own: error of the result on the inputs that the operator got, against float32 on the same inputs. "
    "Carried: against the run in float32, so with what operators before it did. Norm of the difference by "
    "the norm of the reference, over all data."
)
LOST = (
    "Numbers that a format could not hold. Saturated: became the largest number. Flushed: were not zero and "
    "became zero. Wrapped: lost their upper bits."
)
CHANGES = (
    "Each change was made alone and the data run again. The options make it on the command line. An operator "
    "that is left in float32 shows what it costs."
)
SETTINGS = (
    "What the host sets for each operator, and the largest magnitudes that calibration saw in float32. "
    "Searched: the operator's error on calibration data under the settings of the checked pass, before and "
    "after it moved them."
)
REPLAYED = (
    "Calls of this run, drawn by the seed, given as commands to the simulator of the accelerator's text, "
    "and to the RTL of its units."
)
COLOURS = "load", "pack"


def write(validated: Validated, path: Path, command: str) -> None:
    write_whole(path, render(validated, command))


def render(validated: Validated, command: str) -> str:
    title = f"{validated.graph.name} in the numbers of {', '.join(validated.request.accelerators)}"
    sections = [
        _header(validated, title),
        section("changes", "What to change", _changes(validated), CHANGES),
        section("operators", "Operators", _operators(validated), OPERATORS),
        section("steps", "Error by step", _steps(validated), "Own error of each time step, in percent."),
        section("lost", "Saturated, flushed, wrapped", _lost(validated), LOST),
        section("settings", "Exponents and scales", _settings(validated), SETTINGS),
        section("replayed", "Sampled calls", _replayed(validated), f"{REPLAYED} {rtl(validated)}"),
        section("kept", "Not offloaded", _kept(validated), "Operations that a unit knows and does not take."),
        section("run", "This run", repeat(command), ""),
    ]
    return document(title, sections)


def _header(validated: Validated, title: str) -> str:
    run, metric = validated.run, validated.metric
    tiles = [
        ("float32", figure(metric, run.exact), metric.name),
        ("accelerators' numbers", figure(metric, run.found), f"--numbers {validated.request.numbers}"),
        ("error of the result", f"{run.output.percent:.2f} %", "of the first result, against float32"),
        ("time a datum", f"{run.seconds / run.data:.3g} s", f"{run.data} data"),
    ]
    reasons = "".join(f"<li>{escape(cause)}</li>" for cause in causes(validated))
    top = head(
        escape(title), escape(validated.data.source), (_mood(validated), verdict(validated)), tiles, ""
    )
    return f'{top}\n<section id="causes"><h2>Largest errors</h2><ul>{reasons}</ul></section>'


def _mood(validated: Validated) -> str:
    """Whether the figure is that of float32 but for one part in a hundred."""
    lost = validated.metric.gain(validated.run.found, validated.run.exact)
    return "right" if lost <= abs(validated.run.exact) / 100 or not validated.metric.labels else "wrong"


def _changes(validated: Validated) -> str:
    advised, metric = validated.advised, validated.metric
    if advised is None:
        return ""
    rows = [["as it is", "", figure(metric, advised.before), "", f"{advised.error:.2f} %"]]
    for change in advised.advice:
        names = ", ".join(change.operators[:2]) + (
            f" and {len(change.operators) - 2} more" if len(change.operators) > 2 else ""
        )
        options = "".join(f"<br><code>--set '{escape(option)}'</code>" for option in change.options[:6])
        rows.append(
            [
                escape(change.why) + options,
                escape(names),
                figure(metric, change.figure),
                f"{change.gain:+.2f}",
                f"{change.error:.2f} %",
            ]
        )
    rows.append(["float32", "", figure(metric, advised.exact), "", ""])
    return table(["change", "operators", metric.name, "gain", "result off by"], rows)


def _operators(validated: Validated) -> str:
    units = {operator.name: operator for operator in validated.offloaded.operators}
    worst = max((seen.own.percent for seen in validated.run.seen.values()), default=0) or 1
    rows = [
        [
            _bar(seen.own.percent / worst) + escape(name),
            escape(units[name].unit.name),
            escape(units[name].shape),
            f"{seen.own.percent:.2f} %",
            f"{seen.carried.percent:.2f} %",
            f"{seen.seconds:.2f} s",
        ]
        for name, seen in validated.run.seen.items()
    ]
    return table(["operator", "unit", "operands", "own", "carried", "time"], rows)


def _bar(share: float) -> str:
    return f'<span class="mini" style="--c:var(--{COLOURS[0]});--w:{100 * min(share, 1):.0f}%"></span>'


def _steps(validated: Validated) -> str:
    return "".join(
        _chart(name, seen.own.steps) for name, seen in validated.run.seen.items() if len(seen.own.steps) > 1
    )


def _chart(name: str, steps: Sequence[float]) -> str:
    """A bar for each step, with its figure beside it for those who read the source."""
    top = max([*steps, 1e-9])

    def draw(width: int) -> Drawing:
        drawing = Drawing(width, 190, f"{name}: error by step, at most {top:.1f} %")
        wide = width / len(steps)
        for i, error in enumerate(steps):
            height = 150 * error / top
            drawing.bar(
                i * wide, 160 - height, wide * 0.8, height, COLOURS[1], f"step {i + 1}: {error:.2f} %"
            )
        for i in range(0, len(steps), max(len(steps) // 7, 1)):
            drawing.text(i * wide, 178, str(i + 1))
        return drawing

    return (
        f'<p class="note">{escape(name)}: {steps[0]:.1f} % in the first step, {steps[-1]:.1f} % in the last, '
        f"at most {top:.1f} %</p>{fitted(draw)}"
    )


def _lost(validated: Validated) -> str:
    rows = [
        [
            escape(name),
            escape(place),
            f"{counts.elements:,}",
            *(
                _share(losses, counts.elements)
                for losses in (counts.saturated, counts.flushed, counts.wrapped)
            ),
        ]
        for name, seen in validated.run.seen.items()
        for place, counts in seen.places.of.items()
        if counts.saturated or counts.flushed or counts.wrapped
    ]
    return table(["operator", "place", "numbers", "saturated", "flushed", "wrapped"], rows) if rows else ""


def _share(count: int, of: int) -> str:
    return f"{count:,} ({100 * count / of:.2f} %)" if count else "0"


def _settings(validated: Validated) -> str:
    rows = []
    for name, settings in validated.plan.items():
        checked = validated.checked.get(name)
        searched = ""
        if checked and dict(checked.settings) == dict(settings):
            searched = f"{checked.by_range:.2f} % to {checked.searched:.2f} %"
            searched += f"<br>{checked.lost:,} saturate or wrap" if checked.lost else ""
        said = ", ".join(f"{key} {value}" for key, value in settings.items())
        ranges = ", ".join(f"{key} {value:.3g}" for key, value in validated.ranges[name].items())
        wrong = "".join(f"<br><b>{escape(reason)}</b>" for reason in validated.wrong[name])
        rows.append([escape(name) + wrong, _folded(said), _folded(ranges), searched])
    return table(["operator", "settings", "largest magnitudes", "searched"], rows)


def _folded(text: str) -> str:
    """In lines of three entries."""
    parts = text.split(", ")
    return "<br>".join(escape(", ".join(parts[i : i + 3])) for i in range(0, len(parts), 3))


def _replayed(validated: Validated) -> str:
    rows = [
        [
            escape(sample.operator),
            f"{sample.call + 1}",
            escape(sample.what),
            sample.where,
            f"{sample.elements:,}",
            f"{sample.wrong:,}",
        ]
        for sample in validated.replayed
    ]
    return table(["operator", "call", "part", "on", "results", "that differ"], rows) if rows else ""


def _kept(validated: Validated) -> str:
    def rows() -> Iterator[Sequence[str]]:
        for place, why in validated.offloaded.kept:
            yield escape(place), escape(why)

    return table(["operation", "why"], rows()) if validated.offloaded.kept else ""
