"""``--report``, ``--perfetto``, and what the report says of time, stack and code: one run, from all sides."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.markup import Checked

from axiloom import isa
from axiloom.cli import main
from axiloom.cosim.profile import CPU, HARDWARE, TRACKS
from axiloom.report import build as report
from axiloom.report import losses

PROBLEM = ["run", "matmul:16x16x16", "--accel", "v3_4", "--flow", "Bs", "--pipeline", "published"]
WORDS = [*PROBLEM, "--against", "cpu"]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    page, trace, data = (str(folder / name) for name in ("page", "trace.json", "report.json"))
    assert main([*WORDS, "--report", page, "--perfetto", trace, "--json", data]) == 0
    return folder


@pytest.fixture(scope="module")
def built(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "report.json").read_text())
    return found


@pytest.fixture(scope="module")
def html(out: Path) -> str:
    return (out / "page" / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html: str) -> Checked:
    return Checked(html)


def test_the_report_keeps_its_schema(built: dict[str, Any]) -> None:
    jsonschema.validate(built, report.schema())


def test_losses_exclude_each_other_and_add_up(built: dict[str, Any]) -> None:
    found = {one["loss"]: one for one in built["losses"]}
    assert sum(one["cycles"] for one in found.values()) == built["fabric"]["cycles"]
    assert sum(one["share"] for one in found.values()) == pytest.approx(1, abs=1e-4)
    assert found["compute"]["cycles"] == built["fabric"]["compute"]
    assert found["store"]["cycles"] == built["fabric"]["store"]
    loads = sum(found[name]["cycles"] for name in ("load", "load_again", "load_head"))
    assert loads == built["fabric"]["load"]


def test_every_cell_is_in_one_class() -> None:
    cells = [(hw, cpu) for one in losses.CLASSES for hw in one.hardware for cpu in one.cpu]
    assert sorted(cells) == sorted((hw, cpu) for hw in HARDWARE for cpu in CPU)


def test_remedies_are_options_that_the_run_does_not_have(built: dict[str, Any]) -> None:
    remedies = {one["loss"]: one["remedies"] for one in built["losses"]}
    assert "--stream-width 64" in remedies["load"]
    assert any(text.startswith("--pipeline") and "coalesce" in text for text in remedies["dma_latency"])
    assert remedies["compute"] == []
    assert not any("published" in text for found in remedies.values() for text in found)


def test_no_stream_is_recommended_that_cannot_be() -> None:
    """Neither the ports of the user's RTL nor the specification's tiles become wider."""
    (load,) = [one for one in losses.CLASSES if one.key == "load"]
    spec = isa.builtin("v3_4")
    assert "--stream-width 64" in losses.remedies(load, spec, "copying")
    own = losses.remedies(load, spec, "copying", own_rtl=True)
    assert own
    assert not any("--stream-width" in text for text in own)
    widest = isa.revise(spec, stream_width=128)
    assert not any("--stream-width" in text for text in losses.remedies(load, widest, "copying"))
    narrow = isa.load(Path(__file__).parents[2] / "examples" / "verilog_accelerator" / "rowmul.json")
    odd = narrow.replace(tile=replace(narrow.tile, size=(1, 1, 1)), buffers={"A": 1, "B": 1, "C": 1}, macs=1)
    assert not any("--stream-width" in text for text in losses.remedies(load, odd, "copying"))


def test_the_largest_loss_is_not_what_the_limit_is_made_of(built: dict[str, Any], page: Checked) -> None:
    """A run at the limit of its stream loses by what comes on top, not by the words that it must move."""
    assert built["limit"]["by"] == "stream"
    ideal = {one["loss"]: dict(one, cycles=0) for one in built["losses"]}
    ideal["load"]["cycles"], ideal["code"]["cycles"] = 1000, 10
    found = losses.largest(ideal.values(), ("compute", "load"))
    assert found is not None
    assert found["loss"] == "code"
    others = [one for one in built["losses"] if one["loss"] not in ("compute", "load")]
    worst = max(others, key=lambda one: one["cycles"])
    assert f"largest loss: {worst['title']}" in page.text


def test_the_page_says_which_hardware(built: dict[str, Any], page: Checked) -> None:
    assert (built["config"]["stream_width"], built["config"]["dma"]) == (32, "simple")
    assert "stream 32 bits · DMA simple · board pynq-z2" in page.text
    assert "Error band of pynq-z2: not calibrated" in page.text


def test_the_page_is_well_formed_and_fetches_nothing(html: str, page: Checked) -> None:
    assert page.open == []
    assert page.fetched == []
    assert not re.search(r"https?://|@import|url\(", html)
    assert html.startswith("<!doctype html>")


def test_the_page_has_the_figures(built: dict[str, Any], page: Checked) -> None:
    text = page.text
    assert f"{built['limit']['call_cycles']:,} fabric cycles from call to return" in text
    assert f"{built['fabric']['cycles']:,} in all" in text
    assert f"{built['limit']['call_ratio']:.2f} times the limit" in text
    assert "Right in all 256 elements" in text
    assert "CPU, loops" in text
    for one in built["losses"]:
        assert (one["title"] in text) == bool(one["cycles"])
        if one["cycles"]:
            assert f"{one['cycles']:,}" in text
    for name, value in built["counters"].items():
        assert name in text
        assert f"{value:,}" in text or name == "task-clock"
    assert "not calibrated" in text
    assert f"{built['memory']['stack']:,} B" in text
    assert "dma_init" in text  # the driver's C
    assert "axiloom run matmul:16x16x16 --accel v3_4 --flow Bs --pipeline published --against cpu" in text


def test_the_page_has_every_interval_of_the_timeline(html: str, out: Path) -> None:
    found = re.search(r'class="timeline-data">(.*?)</script>', html)
    assert found
    data = json.loads(found[1])
    trace = json.loads((out / "trace.json").read_text())
    complete = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert len(data["tracks"]) == len(TRACKS)
    assert sum(len(track["rows"].split(";")) for track in data["tracks"] if track["rows"]) == len(complete)
    begin, end = data["view"]
    assert 0 <= begin < end <= data["end"]


EVENT = {
    "type": "object",
    "required": ["ph", "pid", "tid", "name", "args"],
    "properties": {
        "ph": {"enum": ["M", "X"]},
        "pid": {"type": "integer"},
        "tid": {"type": "integer"},
        "name": {"type": "string", "minLength": 1},
        "cat": {"type": "string"},
        "ts": {"type": "number", "minimum": 0},
        "dur": {"type": "number", "exclusiveMinimum": 0},
        "args": {"type": "object"},
    },
    "if": {"properties": {"ph": {"const": "X"}}},
    "then": {"required": ["ts", "dur", "cat"]},
    "additionalProperties": False,
}


def test_the_trace_is_one_that_perfetto_reads(out: Path, built: dict[str, Any]) -> None:
    trace = json.loads((out / "trace.json").read_text())
    jsonschema.validate(trace["traceEvents"], {"type": "array", "items": EVENT})
    names = [e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"]
    assert names == ["CPU", "MM2S", "S2MM", "stream in", "load", "compute", "store"]
    complete = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    microseconds = built["fabric"]["cycles"] / built["config"]["clocks"]["fabric_hz"] * 1e6
    assert max(event["ts"] + event["dur"] for event in complete) <= microseconds + 0.01
    compute = sum(event["dur"] for event in complete if event["tid"] == 1 + TRACKS.index("compute"))
    assert compute == pytest.approx(built["fabric"]["compute"] / 100, rel=1e-6)
    load = next(event for event in complete if event["tid"] == 1 + TRACKS.index("load"))
    assert load["args"]["bytes"] == 64
    assert load["args"]["opcode"] in ("sA", "sB")
    assert any(event["args"].get("function") == "memcpy" for event in complete)


@pytest.mark.slow
def test_both_files_are_deterministic(out: Path, tmp_path: Path) -> None:
    first = (out / "trace.json").read_bytes(), (out / "page" / "index.html").read_text()
    page, trace = str(tmp_path / "page"), str(tmp_path / "trace.json")
    assert main([*WORDS, "--report", page, "--perfetto", trace]) == 0
    assert (tmp_path / "trace.json").read_bytes() == first[0]

    def without_command(text: str) -> str:
        return re.sub(r'<pre class="command">.*?</pre>', "", text, flags=re.S)

    assert without_command((tmp_path / "page" / "index.html").read_text()) == without_command(first[1])


def test_the_terminal_says_where_the_time_went(built: dict[str, Any]) -> None:
    text = report.table(built)
    worst = losses.largest(built["losses"])
    assert worst is not None
    assert "Where the time went" in text
    assert worst["title"] in text
    assert "pipeline published" in text.splitlines()[0]
    assert f"peak stack {built['memory']['stack']:,} bytes" in text
    assert "Error band of pynq-z2: not calibrated" in text
