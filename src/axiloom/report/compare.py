"""Reports beside each other: what took how long, layer by layer, and what the configurations say apart.

Nothing is measured here. All are reports that runs wrote, with ``--json`` or in a page. The first is what the
others are measured by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from axiloom.base.errors import UsageError
from axiloom.base.files import read_json
from axiloom.report.build import schema
from axiloom.report.columns import columns

Json = Mapping[str, Any]
COUNTERS = (
    "instructions",
    "cpu-cycles",
    "cache-references",
    "cache-misses",
    "L1-dcache-loads",
    "L1-dcache-load-misses",
    "l2-misses",
)
FABRIC = ("cycles", "words_in", "words_out", "transfers_in", "transfers_out", "mmio_reads", "mmio_writes")
NS_PER_MS = 1e6


def read(path: Path) -> Json:
    """The report in a file of JSON. UsageError: it is none of a run; the message says where not."""
    return checked(read_json(path, "--json of `axiloom run` writes reports"), path)


def checked(report: Json, path: Path, lacking: str = "") -> Json:
    """`report`, which is from `path` and may lack one part; UsageError as `read`."""
    form = schema()
    form["required"] = [name for name in form["required"] if name != lacking]
    check(report, form, str(path), "a report is what --json of `axiloom run` writes")
    return report


def check(data: Any, form: Json, where: str, hint: str) -> None:
    """UsageError, which ends with `hint`, where `data` do not have this form."""
    import jsonschema  # here: it takes longer to import than to use

    fault = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(form).iter_errors(data))
    if fault is not None:
        message = fault.message if len(fault.message) < 200 else f"{fault.message[:200]}..."
        raise UsageError(f"{where}: {fault.json_path}: {message}; {hint}")


def letter(number: int) -> str:
    """What a run is called among others: A, B, ..."""
    return ascii_uppercase[number] if number < len(ascii_uppercase) else f"run {number + 1}"


def heads(count: int) -> list[str]:
    """Of columns of figures: each run, and each but the first beside it."""
    rest = (text for n in range(1, count) for text in (letter(n), f"{letter(n)} to A"))
    return [letter(0), *rest]


def compare(reports: Sequence[Json]) -> list[str]:
    """Lines for a terminal: the result and the time first, then what differs, then all figures."""
    lines = [verdict(reports), ""]
    lines += _section("Configuration", settings(reports), len(reports), "all runs have the same one")
    lines += _section("Figures", figures(reports), len(reports), "")
    lines += _section(
        "Fabric cycles by what they went to", losses(reports), len(reports), "the same in all classes"
    )
    rows = [*layers(reports)]
    return lines + (_section("Layers, ms", rows, len(reports), "") if rows else [])


def verdict(reports: Sequence[Json]) -> str:
    """Times, how much faster than the first, and whether each is right, in a line."""
    times = [report["counters"]["task-clock"] / NS_PER_MS for report in reports]
    said = [f"A {times[0]:.3f} ms"]
    for number, ms in enumerate(times[1:], 1):
        said.append(f"{letter(number)} {ms:.3f} ms" + (f" ({times[0] / ms:.2f} times as fast)" if ms else ""))
    return f"{', '.join(said)}; {results(reports)}"


def results(reports: Sequence[Json]) -> str:
    """Whether each is right."""
    return ", ".join(f"{letter(n)} {_result(report)}" for n, report in enumerate(reports))


def _result(report: Json) -> str:
    matches = report["result"]["matches"]
    return "was compared with nothing" if matches is None else "is right" if matches else "is WRONG"


def _section(title: str, rows: list[tuple[str, ...]], count: int, empty: str) -> list[str]:
    if not rows:
        return [f"{title}: {empty}", ""]
    plain = len(rows[0]) == 1 + count
    head = ("", *(map(letter, range(count)) if plain else heads(count)))
    align = "<" + ("<" if plain else ">") * (len(head) - 1)
    return [title, *(f"  {line}" for line in columns([head, *rows], align)), ""]


def settings(reports: Sequence[Json]) -> list[tuple[str, ...]]:
    """What is not the same in `config`, `versions` and `seed`: its name, and what each run has."""
    sides = [
        dict(_flat(report["config"]))
        | {f"version of {tool}": text for tool, text in report["versions"].items()}
        | {"seed": str(report["seed"])}
        for report in reports
    ]
    names = dict.fromkeys(name for side in sides for name in side)
    rows = ((name, *(side.get(name, "-") for side in sides)) for name in names)
    return [row for row in rows if len({*row[1:]}) > 1]


def _flat(settings: Json) -> Iterator[tuple[str, str]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", text) for inner, text in _flat(value))
        else:
            yield name, str(value)


def figures(reports: Sequence[Json]) -> list[tuple[str, ...]]:
    """Counters of the fabric and the CPU, in the columns of :func:`heads`."""
    rows = [
        _row("fabric " + name.replace("_", " "), [report["fabric"][name] for report in reports])
        for name in FABRIC
    ]
    rows += [_row(name, [report["counters"][name] for report in reports]) for name in COUNTERS]
    stacks = [report["memory"]["stack"] for report in reports]
    return rows if None in stacks else [*rows, _row("stack, bytes", stacks)]


def losses(reports: Sequence[Json]) -> list[tuple[str, ...]]:
    """Cycles of each class that is not the same in all runs, in the columns of :func:`heads`."""
    rows = ((title, cycles) for title, _, cycles in classes(reports) if len({*cycles}) > 1)
    return [_row(title, cycles) for title, cycles in rows]


def classes(reports: Sequence[Json]) -> Iterator[tuple[str, str, list[int]]]:
    """Title, key and cycles in each run of every class that took time in one of them."""
    sides = [{loss["loss"]: loss for loss in report["losses"]} for report in reports]
    for name in dict.fromkeys(name for side in sides for name in side):
        title = next(side[name]["title"] for side in sides if name in side)
        cycles = [side[name]["cycles"] if name in side else 0 for side in sides]
        if any(cycles):
            yield title, name, cycles


def layers(reports: Sequence[Json]) -> Iterator[tuple[str, ...]]:
    """A row for each layer, by its place in the MLIR. A layer that a run lacks has no time there."""
    sides: list[dict[tuple[str, int], Json]] = []
    for report in reports:
        by_place: dict[tuple[str, int], Json] = {}
        for layer in report.get("network", {}).get("layers", ()):
            again = sum(place == layer["location"] for place, _ in by_place)
            by_place[layer["location"], again] = layer
        sides.append(by_place)
    for key in dict.fromkeys(key for side in sides for key in side):
        own = [side.get(key) for side in sides]
        times = [None if layer is None else layer["ms"] for layer in own]
        cells = [
            "-" if layer is None else f"{layer['ms']:.3f} {layer['accelerator'] or 'cpu'}" for layer in own
        ]
        yield (key[0], *_beside(cells, times))


def _row(name: str, values: Sequence[int]) -> tuple[str, ...]:
    return (name, *_beside([f"{value:,}" for value in values], values))


def _beside(cells: Sequence[str], values: Sequence[float | None]) -> Iterator[str]:
    yield cells[0]
    for cell, value in zip(cells[1:], values[1:], strict=True):
        yield cell
        yield change(values[0], value)


def change(before: float | None, after: float | None) -> str:
    """By how much `after` is more or less."""
    if before is None or after is None:
        return ""
    if before == after:
        return "same"
    return f"{(after - before) / before:+.1%}" if before else "new"
