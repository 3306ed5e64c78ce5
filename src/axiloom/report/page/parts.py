"""The sections of the page that are text and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

from axiloom.cosim.model_device import MODEL_RTL
from axiloom.report import losses
from axiloom.report.build import cpu_title, of_guess
from axiloom.report.numbers import count, duration, megahertz, percent
from axiloom.report.page.traces import Trace, link
from axiloom.report.perfetto import DOES
from axiloom.report.types import Limit, Report

WHERE = (
    "Each cycle is counted once, for the most useful thing that happened in it: a cycle in which words move "
    "or the array multiplies is never counted against the CPU. The last column has options of axiloom run "
    "that may win a class back."
)
GAINS = (
    "Fabric cycles of the whole run with each option added, one at a time. Solid: it was run (--try). "
    "Hatched: by the cost model."
)
TIMELINE = (
    "Drag to move, wheel or pinch to zoom, arrow keys and + − work too; the strip below is the whole run. "
    "The links in the tables lead to the longest stretch of a row."
)
ROOFLINE = "Multiply-adds of the problem for each word over the busier stream, against operations in a cycle."
TRANSFERS = (
    "From the start of a transfer to its end; the rate is what a transfer reaches while it is under way."
)
FUNCTIONS = (
    "Cycles inside a function, without what it calls; waiting is for the fabric (polls, register accesses)."
)
MEANWHILE = (
    "The same cycles by what the hardware did (rows) and what the CPU did meanwhile (columns), in percent."
)

STARTUP = "startup"
"""The class of start and end of the program."""

_HARDWARE = {
    "compute": "array multiplies",
    "load_new": "words come in",
    "load_again": "words come in again",
    "load_head": "opcode words come in",
    "store": "words go out",
    "in_stalled": "device does not take a word",
    "in_starved": "send under way, no word",
    "receiving": "receive under way, no word",
    "quiet": "nothing",
}


def section(name: str, title: str, body: str, note: str) -> str:
    if not body:
        return ""
    text = f'<p class="note">{escape(note)}</p>' if note else ""
    return f'<section id="{name}">\n<h2>{escape(title)}</h2>\n{text}\n{body}\n</section>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """`head` and `rows` are HTML; all columns but the first are numbers. `kind`: classes of page.css; with
    ``cards`` a row is a block of its own on a telephone, each figure with its column's name."""
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>'
        + "".join(f'<td data-of="{name}">{cell}</td>' for name, cell in zip(head[1:], row[1:], strict=True))
        + "</tr>\n"
        for row in rows
    )
    thead = f"<thead><tr>{top}</tr></thead>" if any(head) else ""
    return f'<div class="scroll"><table class="{kind}">{thead}<tbody>\n{body}</tbody></table></div>'


# --- a hang ----------------------------------------------------------------------------------------------


def hang(report: Report) -> str:
    """The state at the end, and what to try; empty for a run that ended by itself."""
    state = report["result"].get("hang")
    if state is None:
        return ""
    rows = "".join(f"<dt>{escape(title)}</dt><dd>{escape(text)}</dd>\n" for title, text in state["facts"])
    tries = "".join(f"<li>{escape(text)}</li>\n" for text in state["remedies"])
    return f"<dl>\n{rows}</dl>\n<h3>What to try</h3>\n<ul>\n{tries}</ul>"


# --- the head ----------------------------------------------------------------------------------------


class Work(NamedTuple):
    """The part of a run in which the work is done: fabric cycles, and what they are of."""

    cycles: int
    what: str


def work(report: Report) -> Work:
    """From call to return where a function was called; else all but start and end of the program."""
    bound, cycles = report["limit"], report["fabric"]["cycles"]
    if calls := bound.get("calls"):
        return Work(sum(calls), f"in {len(calls)} calls")
    if called := bound.get("call_cycles"):
        return Work(called, "from call to return")
    started = sum(loss["cycles"] for loss in report["losses"] if loss["loss"] == STARTUP)
    return Work(cycles - started, "without start and end of the program")


def verdict(report: Report) -> str:
    """In one sentence: right or wrong, how long the work took, how far above the limit, and why."""
    result, bound, done = report["result"], report["limit"], work(report)
    hz = report["config"]["clocks"]["fabric_hz"]
    if "hang" in result:
        after = f"{count(report['fabric']['cycles'])} fabric cycles"
        return (
            f"Hung, and stopped after {after}: {result['hang']['message'].split(': ', 1)[-1].split(';')[0]}."
        )
    if result["matches"] is None:
        first = f"Not compared (exit code {result['exit_code']})"
    elif result["matches"]:
        first = f"Right in all {count(result['elements'])} elements"
    else:
        first = f"Wrong in {count(result['mismatches'])} of {count(result['elements'])} elements"
    text = f"{first}: {duration(done.cycles / hz)} {done.what}"
    if bound["ratio"] is not None:
        limit = duration(bound["cycles"] / hz)
        times = done.cycles / bound["cycles"]
        text += f", {times:.2f} times the limit of {limit} that the {bound['by']} sets"
    if (worst := losses.largest(report["losses"], _needed(report))) is not None:
        text += f"; largest loss: {worst['title']}, {percent(worst['cycles'] / max(done.cycles, 1))}"
    if report["config"]["rtl"] == MODEL_RTL:
        text += f". RTL: {MODEL_RTL}"
    return f"{text}."


def _needed(report: Report) -> tuple[str, ...]:
    """The classes that the limit is made of, and what is no part of the work."""
    bound, fabric = report["limit"], report["fabric"]
    if bound["by"] != "stream":
        return ("compute", STARTUP)
    return ("compute", STARTUP, "load" if fabric["words_in"] >= fabric["words_out"] else "store")


def header(report: Report) -> str:
    config, bound, fabric = report["config"], report["limit"], report["fabric"]
    hz = config["clocks"]["fabric_hz"]
    done = work(report)
    whole = f"{count(done.cycles)} fabric cycles {done.what}; {count(fabric['cycles'])} in all"
    tiles = [("time", duration(done.cycles / hz), whole)]
    if bound["ratio"] is not None:
        times = f"{done.cycles / bound['cycles']:.2f} ×"
        tiles.append(("times the limit", times, _bounds(bound) + of_guess(report)))
    if bound["multiply_adds"] and bound["ratio"] is not None:
        rate = bound["multiply_adds"] / done.cycles
        tiles.append(
            (
                "array in use",
                percent(rate / bound["macs_per_cycle"]),
                f"{2 * rate:,.1f} of {2 * bound['macs_per_cycle']} operations a cycle{of_guess(report)}",
            )
        )
    if "cpu" in report:
        alone = report["cpu"]["counters"]["task-clock"] / 1e9
        ours = report["counters"]["task-clock"] / 1e9
        word = "faster" if ours <= alone else "slower"
        ratio = max(alone / ours, ours / alone)
        tiles.append(
            ("than the CPU alone", f"{ratio:.2f} × {word}", f"{cpu_title(report['cpu'])}: {duration(alone)}")
        )
    state = {True: "right", False: "wrong", None: "open"}[report["result"]["matches"]]
    how = " · ".join(
        escape(part)
        for part in (
            config.get("flow") and f"flow {config['flow']}",
            config.get("tile") and f"tile {config['tile']}",
            config.get("loop_order") and f"loops {config['loop_order']}",
            config.get("pipeline") and f"pipeline {config['pipeline']}",
            config["data_type"],
            f"stream {config['stream_width']} bits",
            f"DMA {config['dma']}",
            f"board {config['board']}",
            config.get("guessed") and f"guessed: {', '.join(config['guessed'])}",
        )
        if part
    )
    title = f"{escape(config['problem'])} <small>on {escape(config['accelerator'])}</small>"
    return head(title, how, (state, verdict(report)), tiles, band(report))


def head(
    title: str, how: str, verdict: tuple[str, str], tiles: Iterable[tuple[str, str, str]], note: str
) -> str:
    """What a page begins with. `title` and `how` are HTML; `verdict`: right, wrong or open, and the sentence;
    `tiles`: what, value, and what is said below it."""
    cells = "".join(
        f'<div class="tile"><div class="what">{escape(what)}</div><div class="value">{escape(value)}</div>'
        f'<div class="sub">{escape(sub)}</div></div>'
        for what, value, sub in tiles
    )
    state, text = verdict
    foot = f'<p class="note band">{escape(note)}</p>\n' if note else ""
    return (
        f'<header>\n<h1>{title}</h1>\n<p class="how">{how}</p>\n'
        f'<p class="verdict {state}">{escape(text)}</p>\n<div class="tiles">{cells}</div>\n{foot}</header>'
    )


def band(report: Report) -> str:
    """How far the times may be off."""
    board, fitted = report["config"]["board"], report["fidelity"]
    text = fitted["text"] if fitted else "not calibrated: counts are exact, times an estimate"
    return f"Error band of {board}: {text}."


def _bounds(bound: Limit) -> str:
    array = bound["array_cycles"]
    text = f"stream {count(bound['stream_cycles'])}"
    return f"{text} · array {count(array)}" if array is not None else text


# --- tables ------------------------------------------------------------------------------------------


def counters(report: Report) -> str:
    def amount(name: str, value: int) -> str:
        return duration(value / 1e9) if name == "task-clock" else count(value)

    ours, cpu = report["counters"], report.get("cpu")
    fabric = [(name.replace("_", " "), count(value)) for name, value in report["fabric"].items()]
    if cpu is None:
        rows: list[tuple[str, ...]] = [(name, amount(name, value)) for name, value in ours.items()]
        return table(("counter", "accelerated"), rows) + table(("fabric", "cycles, events"), fabric)
    theirs = cpu["counters"]
    rows = [
        (
            name,
            amount(name, value),
            amount(name, theirs[name]) if name in theirs else "–",
            f"{theirs[name] / value:.2f} ×" if value and theirs.get(name) else "–",
        )
        for name, value in ours.items()
    ]
    head = ("counter", "accelerated", cpu_title(cpu), "ratio")
    return table(head, rows) + table(("fabric", "cycles, events"), fabric)


def functions(report: Report, trace: Trace | None = None) -> str:
    total = max(report["counters"]["cpu-cycles"], 1)
    rows = [
        (
            f"<code>{escape(function['name'])}</code>{link(trace, 'functions', function['name'])}",
            count(function["cycles"]),
            percent(function["cycles"] / total),
            percent(function["waiting"] / function["cycles"]),
        )
        for function in report["functions"]
    ]
    memory = report["memory"]
    sizes = [("peak stack", "unknown" if memory["stack"] is None else f"{count(memory['stack'])} B")]
    code = ((name, size) for name, size in memory.items() if name != "stack")
    sizes += [(name, f"{count(size)} B") for name, size in code if size is not None]
    return table(("function", "CPU cycles", "share", "waiting"), rows) + table(("program", "size"), sizes)


def meanwhile(report: Report) -> str:
    cells = report["activity"]
    total = max(report["fabric"]["cycles"], 1)
    used = [cpu for cpu in DOES if any(row[cpu] for row in cells.values())]
    rows = []
    for hardware, row in cells.items():
        if not any(row.values()):
            continue
        shares = [row[cpu] / total for cpu in used]
        rows.append(
            (_HARDWARE[hardware], *(_heat(share) for share in shares), percent(sum(row.values()) / total))
        )
    return table(("hardware", *(escape(DOES[cpu]) for cpu in used), "together"), rows, "heat cards")


def _heat(share: float) -> str:
    if not share:
        return ""
    return f'<span style="--heat:{min(100, round(250 * share))}%">{percent(share)}</span>'


def console(report: Report) -> str:
    text = report.get("console", "").replace("\r\n", "\n")
    return f"<details open><summary>text</summary><pre>{escape(text)}</pre></details>" if text else ""


# --- the foot ----------------------------------------------------------------------------------------


def configuration(report: Report) -> str:
    config = report["config"]
    clocks = config["clocks"]
    facts: list[tuple[str, Any]] = [
        ("problem", config["problem"]),
        (
            "accelerator",
            f"{config['accelerator']} (RTL: {config['rtl']}), specification {config['spec_hash']}",
        ),
        ("elements", config["data_type"]),
        ("flow", config.get("flow")),
        ("loops", config.get("loop_order")),
        ("tile", config.get("tile")),
        ("pipeline", config.get("pipeline")),
        ("wait", config.get("wait")),
        ("stream", f"{config['stream_width']} bits"),
        ("DMA", config["dma"]),
        ("memory port", config["memory_port"]),
        ("driver", config["driver_hash"]),
        ("board", config["board"]),
        ("clocks", f"CPU {megahertz(clocks['cpu_hz'])}, fabric {megahertz(clocks['fabric_hz'])}"),
        ("simulator", config["sim"]),
        ("seed", report["seed"]),
        ("versions", ", ".join(f"{name} {version}" for name, version in report["versions"].items())),
    ]
    facts += [("proved", line) for line in report.get("proved", [])]
    facts += [("note", line) for line in report.get("notes", [])]
    facts += [("stale data", line) for line in report["stale"]]
    facts += [("mistake of the driver's", line) for line in report.get("mistakes", [])]
    facts += [("outside of arrays", line) for line in report.get("outside", [])]
    facts += [("rule of a bus broken", line) for line in report.get("breaches", [])]
    facts += [("pauses", report.get("pauses", ""))]
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>\n"
        for name, value in facts
        if value != "" and value is not None
    )
    return f"<dl>\n{rows}</dl>"


def repeat(command: str) -> str:
    return (
        f'<p class="note">To repeat this run:</p>\n<pre class="command"><code>{escape(command)}</code></pre>'
    )


def driver(source: str | None) -> str:
    if source is None:
        return ""
    lines = source.count("\n")
    return (
        f'<section id="driver">\n<details>\n<summary>The driver ({count(lines)} lines of C)</summary>\n'
        f'<pre class="code"><code>{escape(source)}</code></pre>\n</details>\n</section>'
    )
