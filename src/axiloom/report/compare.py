"""Two reports beside each other: what took how long, layer by layer, and what the configurations say apart.

Nothing is measured here. Both sides are reports that runs wrote with ``--json``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema

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
    """The report in a file. UsageError: it is no report of a run; the message says where it is not."""
    report: Json = read_json(path, "--json of `axiloom run` writes reports")
    fault = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema()).iter_errors(report))
    if fault is not None:
        message = fault.message if len(fault.message) < 200 else f"{fault.message[:200]}..."
        raise UsageError(
            f"{path}: {fault.json_path}: {message}; a report is what --json of `axiloom run` writes"
        )
    return report


def compare(old: Json, new: Json) -> list[str]:
    """Lines for a terminal: the result and the time first, then what differs, then all figures."""
    lines = [_verdict(old, new), ""]
    lines += _section("Configuration", _settings(old, new), "<<<", "both runs have the same one")
    lines += _section("Figures", _figures(old, new), "<>>>", "")
    lines += _section(
        "Fabric cycles by what they went to", _losses(old, new), "<>>>", "the same in all classes"
    )
    layers = list(_layers(old, new))
    return lines + (_section("Layers, ms", layers, "<>>>", "") if layers else [])


def _verdict(old: Json, new: Json) -> str:
    before, after = (report["counters"]["task-clock"] / NS_PER_MS for report in (old, new))
    results = ", ".join(f"{name} {_result(report)}" for name, report in (("A", old), ("B", new)))
    ratio = f" ({before / after:.2f} times as fast)" if after else ""
    return f"A {before:.3f} ms, B {after:.3f} ms{ratio}; {results}"


def _result(report: Json) -> str:
    matches = report["result"]["matches"]
    return "was compared with nothing" if matches is None else "is right" if matches else "is WRONG"


def _section(title: str, rows: list[tuple[str, ...]], align: str, empty: str) -> list[str]:
    if not rows:
        return [f"{title}: {empty}", ""]
    head = ("", "A", "B", "B to A")[: len(align)]
    return [title, *(f"  {line}" for line in columns([head, *rows], align)), ""]


def _settings(old: Json, new: Json) -> list[tuple[str, ...]]:
    """What is not the same in `config`, `versions` and `seed`."""
    before, after = (
        dict(_flat(report["config"]))
        | {f"version of {tool}": text for tool, text in report["versions"].items()}
        | {"seed": str(report["seed"])}
        for report in (old, new)
    )
    names = dict.fromkeys([*before, *after])
    return [
        (name, before.get(name, "-"), after.get(name, "-"))
        for name in names
        if before.get(name) != after.get(name)
    ]


def _flat(settings: Json) -> Iterator[tuple[str, str]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", text) for inner, text in _flat(value))
        else:
            yield name, str(value)


def _figures(old: Json, new: Json) -> list[tuple[str, ...]]:
    rows = [
        _row("fabric " + name.replace("_", " "), old["fabric"][name], new["fabric"][name]) for name in FABRIC
    ]
    rows += [_row(name, old["counters"][name], new["counters"][name]) for name in COUNTERS]
    stacks = old["memory"]["stack"], new["memory"]["stack"]
    return rows if None in stacks else [*rows, _row("stack, bytes", *stacks)]


def _losses(old: Json, new: Json) -> list[tuple[str, ...]]:
    before, after = ({loss["loss"]: loss for loss in report["losses"]} for report in (old, new))
    names = dict.fromkeys([*before, *after])
    titles = {name: (before.get(name) or after[name])["title"] for name in names}
    cycles = {
        name: tuple(side[name]["cycles"] if name in side else 0 for side in (before, after)) for name in names
    }
    return [_row(titles[name], *cycles[name]) for name in names if cycles[name][0] != cycles[name][1]]


def _layers(old: Json, new: Json) -> Iterator[tuple[str, ...]]:
    """A row for each layer, by its place in the MLIR. A layer that one run lacks has no time there."""
    sides: list[dict[tuple[str, int], Json]] = []
    for report in (old, new):
        by_place: dict[tuple[str, int], Json] = {}
        for layer in report.get("network", {}).get("layers", ()):
            again = sum(place == layer["location"] for place, _ in by_place)
            by_place[layer["location"], again] = layer
        sides.append(by_place)
    before, after = sides
    for key in dict.fromkeys([*before, *after]):
        first, second = before.get(key), after.get(key)
        times = [None if layer is None else layer["ms"] for layer in (first, second)]
        cells = [
            "-" if layer is None else f"{layer['ms']:.3f} {layer['accelerator'] or 'cpu'}"
            for layer in (first, second)
        ]
        yield (key[0], *cells, _change(*times))


def _row(name: str, before: int, after: int) -> tuple[str, ...]:
    return (name, f"{before:,}", f"{after:,}", _change(before, after))


def _change(before: float | None, after: float | None) -> str:
    if before is None or after is None:
        return ""
    if before == after:
        return "same"
    return f"{(after - before) / before:+.1%}" if before else "new"
