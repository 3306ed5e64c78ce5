"""Pages of real runs: what they draw is the run's JSON, links lead where the time went, differences show."""

from __future__ import annotations

import copy
import json
import math
import re
import shutil
import subprocess
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import axiloom as ax
from axiloom.cli import main
from axiloom.cosim.system import System
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa.files.library import load
from axiloom.report import blocks as described
from axiloom.report import places
from axiloom.report.build import schema
from axiloom.report.numbers import count, size
from axiloom.report.page import blocks, charts, compare, front, parts
from axiloom.report.page.compare import Side
from axiloom.report.page.traces import trace

PROBLEM = "matmul:16x16x16"


@pytest.fixture(scope="module")
def run() -> Any:
    return ax.run(PROBLEM, on="v3_4", pipeline="published", progress=False)


@pytest.fixture(scope="module")
def saved(run: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    run.save(folder)
    return folder


def texts(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_the_diagram_is_the_system_that_ran(run: Any) -> None:
    """Widths, clocks and bytes, each from where it was counted; the same in both pictures."""
    report, result = run.report, run.result
    jsonschema.validate(report, schema())
    edges = {(edge["source"], edge["target"]): edge for edge in report["system"]["edges"]}
    stream = edges["DMA", "v3_4"]
    assert stream["bits"] == run.plan.devices[0].link.stream_width
    assert (stream["there"], stream["back"]) == tuple(
        4 * result.fabric[f"words_{way}"] for way in ("in", "out")
    )
    port = edges["memory", "DMA"]
    assert port["there"] == 4 * result.events["dma_words_read"] >= stream["there"]
    assert edges["CPU", "interconnect"]["count"] == sum(
        result.fabric[f"mmio_{way}"] for way in ("reads", "writes")
    )
    assert edges["L2 cache", "memory"]["back"] == 32 * run.counters["l2-misses"]
    for width in (1056, 352):
        shown = texts(str(blocks.draw(report["system"], width)))
        assert "650 MHz" in shown
        assert "100 MHz" in " ".join(shown.split())
        for edge in report["system"]["edges"]:
            for moved in (edge["there"], edge["back"]):
                assert moved is None or size(moved) in shown
            assert edge["count"] is None or count(edge["count"]) in shown


def test_another_system_is_another_picture() -> None:
    with ax.soc(["v3_4", "conv_v3"], board="zcu104") as chip:
        shown = texts(chip._repr_html_().replace("&lt;", "<").replace("&gt;", ">"))
    assert "Cortex-A53, 1200 MHz" in shown
    for name in ("v3_4", "DMA of v3_4", "conv_v3", "DMA of conv_v3"):
        assert name in shown


def crossed(drawing: str) -> list[str]:
    """Edges that go through a block, and texts beyond the picture's sides."""
    boxes = [
        list(map(float, box))
        for box in re.findall(
            r'class="block [^>]*x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', drawing
        )
    ]
    paths = re.findall(r'<polyline class="edge" points="(.*?)"', drawing)
    lines = re.findall(r'<line class="edge" x1="(.*?)" y1="(.*?)" x2="(.*?)" y2="(.*?)"', drawing)
    paths += ["{},{} {},{}".format(*line) for line in lines]
    faults = []
    for path in paths:
        points = [tuple(map(float, point.split(","))) for point in path.split()]
        for (left, right), (top, bottom) in (
            map(sorted, zip(*pair, strict=True)) for pair in pairwise(points)
        ):
            faults += [
                f"{left},{top} {right},{bottom} through {x},{y}"
                for x, y, wide, high in boxes
                if left < x + wide - 1 and right > x + 1 and top < y + high - 1 and bottom > y + 1
            ]
    return faults + beyond(drawing)


def beyond(drawing: str) -> list[str]:
    """Texts that leave the picture, level or turned around their middle."""
    width = float(re.findall(r'viewBox="0 0 (\d+)', drawing)[0])
    faults = []
    for x, anchor, text in re.findall(r'<text [^>]*x="([\d.]+)"[^>]*anchor="(\w+)">([^<]*)', drawing):
        room = float(x) if anchor == "end" else width - float(x)
        faults += [text] if 6.2 * len(text) * (0.5 if anchor == "middle" else 1) > room else []
    turned = r'translate\(([\d.]+) [\d.]+\) rotate\((-?[\d.]+)\)" text-anchor="middle">([^<]*)'
    for x, angle, text in re.findall(turned, drawing):
        if float(x) < 6.2 * len(text) / 2 * math.cos(math.radians(float(angle))):
            faults.append(text)
    return faults


def test_texts_stay_in_their_pictures(saved: Path, tmp_path: Path) -> None:
    """Also the roof's name where its slope is short, and the last tick of a scale."""
    nest = ax.nest("examples/loops/product.c").save(tmp_path).read_text(encoding="utf-8")
    pages = nest, (saved / "index.html").read_text(encoding="utf-8")
    drawings = [
        svg for page in pages for svg in re.findall(r'<svg class="drawing".*?</svg>', page, re.DOTALL)
    ]
    assert len(drawings) > 6
    assert [text for drawing in drawings for text in beyond(drawing)] == []


@pytest.mark.parametrize("width", [1056, 500, 352])
def test_edges_go_round_the_blocks(run: Any, width: int) -> None:
    """Also of an accelerator with a master of its own, of one level of caches, and of two accelerators."""
    folder = Path("examples/hardware/vadd_m_axi")
    vadd = load(folder / "vadd.json")
    own = System(vadd, board="nexys-video-rv32", user_rtl=UserRtl([folder / "vadd.v"], "vadd", vadd.link.rtl))
    part = described.of(own, None)
    assert {edge["target"] for edge in part["edges"] if edge["source"] == "memory"} == {"vadd"}
    assert not {"L2 cache", "DMA"} & {block["name"] for block in part["blocks"]}
    with ax.soc(["v3_4", "conv_v3"], board="zcu104") as chip:
        systems = [run.report["system"], part, described.of(chip.system, None)]
    for system in systems:
        assert crossed(str(blocks.draw(system, width))) == []
    through = '<line class="edge" x1="40" y1="0" x2="40" y2="9999"/>'
    assert crossed(f"{blocks.draw(part, width)}{through}")


def test_the_timeline_says_what_the_losses_say(run: Any) -> None:
    """Two ways to the same: the core's table of cycles, and the classes as the page finds their places."""
    cycle = 1e9 / run.timeline.fabric_hz
    found = {name: time / cycle for name, time in places.nanoseconds(run.timeline).items()}
    losses = {loss["loss"]: loss["cycles"] for loss in run.report["losses"]}
    for name in ("compute", "load", "load_again", "load_head", "store", "dma_latency"):
        assert found[name] == pytest.approx(losses[name], rel=0.02, abs=16), name
    # Tracks of CPU and fabric have clocks of their own: at each boundary, a cycle may be on the other side.
    assert sum(abs(found[name] - losses[name]) for name in losses) < 0.02 * run.cycles


def test_links_lead_to_where_a_row_is(run: Any, saved: Path) -> None:
    html = (saved / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'href="#timeline" data-from="(\d+)" data-to="(\d+)"', html)
    stretches = places.of(run.timeline)
    shown = [loss["loss"] for loss in run.report["losses"] if loss["loss"] in stretches["losses"]]
    assert len(shown) > 8
    assert {tuple(map(str, stretches["losses"][name])) for name in shown} <= set(links)
    begin, end = stretches["transfers"]["s2mm 64"]
    received = [(round(i.begin), round(i.end)) for i in run.timeline.intervals("s2mm") if i.bytes == 64]
    assert (begin, end) in received


def test_the_verdict_leaves_start_up_out(run: Any) -> None:
    said = parts.verdict(run.report)
    assert "from call to return" in said
    slow = copy.deepcopy(run.report)
    added = 10**6
    slow["fabric"]["cycles"] += added
    (startup,) = (loss for loss in slow["losses"] if loss["loss"] == "startup")
    startup["cycles"] += added
    assert parts.verdict(slow) == said
    for report in (run.report, slow):
        report["limit"].pop("call_cycles", None)  # as of a network
    assert parts.verdict(slow) == parts.verdict(run.report) != said


def test_bars_are_as_long_as_what_was_measured(run: Any) -> None:
    report = copy.deepcopy(run.report)
    now = report["fabric"]["cycles"]
    report["tried"] = [
        {"options": "--dma sg", "cycles": now // 4, "times": 4.0, "said": "right"},
        {"options": "--no", "cycles": None, "times": None, "said": "refused"},
    ]
    shown = charts.remedies(report)
    assert re.search(r'class="bar" style="--w:2[45]\.\d%', shown)
    assert f"measured, right: {now // 4:,}" in shown
    assert "--no" not in shown
    gain = next(gain for loss in report["losses"] for gain in loss.get("gains", {}).values())
    assert f'class="bar foretold" style="--w:{100 / gain["times"]:.1f}%' in shown


def test_two_runs_have_two_timelines_and_what_differs(run: Any, saved: Path, tmp_path: Path) -> None:
    """From pages on disk, by the command: one of them with a planted difference."""
    other = ax.run(PROBLEM, on="v3_4", pipeline="coalesced", progress=False)
    other.save(tmp_path / "b")
    assert (
        main(["report", str(saved), str(tmp_path / "b" / "index.html"), "--report", str(tmp_path / "both")])
        == 0
    )
    html = (tmp_path / "both" / "index.html").read_text(encoding="utf-8")
    traces = [json.loads(text) for text in re.findall(r'class="timeline-data">(.*?)</script>', html)]
    assert [data["tracks"] for data in traces] == [trace(a.timeline)["tracks"] for a in (run, other)]
    assert len({data["end"] for data in traces}) == 1
    assert "coalesced" in texts(html)
    assert "B is" in html
    planted = copy.deepcopy(run.report)
    planted["fabric"]["words_in"] *= 3
    planted["config"]["seed_of_noise"] = "planted"
    planted["result"]["matches"] = False
    page = texts(compare.render([Side(run.report, None), Side(planted, None)]))
    assert "+200.0%" in page
    assert "planted" in page
    assert "B is WRONG" in page
    assert "files of JSON" in page
    same = texts(compare.render([Side(run.report, None)] * 2))
    assert "All take the same time" in same
    assert "Nothing: configuration, tools and seed are the same" in same


BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FRAME = """<!doctype html><body><iframe id="f" width="{width}" height="900" style="border:0" srcdoc="{page}">
</iframe><script>f.onload = () => {{ const page = f.contentDocument, root = page.documentElement;
const link = page.querySelector("a.at"); if (link) link.click();
const drawn = [...page.querySelectorAll("canvas.detail")].filter((canvas) => canvas.width > 300);
const over = root.scrollWidth - root.clientWidth;
document.title = `over ${{over}} canvases ${{drawn.length}}`; }};</script>"""


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [400, 1280])
def test_no_page_is_wider_than_its_window(run: Any, saved: Path, tmp_path: Path, width: int) -> None:
    """In a browser, with the script: a link is followed, and every timeline is drawn."""
    sides = [Side(run.report, trace(run.timeline))] * 2
    own = (saved / "index.html").read_text(encoding="utf-8")
    nest = ax.nest("examples/loops/product.c").save(tmp_path / "nest").read_text(encoding="utf-8")
    assert in_browser(own, width, tmp_path) == "over 0 canvases 1"
    assert in_browser(compare.render(sides), width, tmp_path) == "over 0 canvases 2"
    assert in_browser(nest, width, tmp_path) == "over 0 canvases 0"
    assert in_browser(front.render([], HARDWARE, ""), width, tmp_path) == "over 0 canvases 0"
    wide = own.replace("<main>", '<main><p style="width: 2000px">wide</p>')
    assert not in_browser(wide, width, tmp_path).startswith("over 0 ")


def in_browser(page: str, width: int, folder: Path) -> str:
    """What the frame says of the page in it."""
    assert BROWSER is not None
    (folder / "frame.html").write_text(FRAME.format(width=width, page=escape(page)), encoding="utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000"]
    command += ["--virtual-time-budget=3000", "--dump-dom", (folder / "frame.html").as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    (title,) = re.findall(r"<title>(over [^<]*)</title>", dom.partition("</head>")[0])
    return str(title)


def design(name: str, dsp: int, ms: float, fits: bool) -> dict[str, Any]:
    return {
        "name": name,
        "macs": dsp,
        "stream_width": 64,
        "scatter_gather": True,
        "predicted_ms": ms,
        "simulated_ms": None,
        "resources": {"dsp": dsp, "lut": 100},
        "fits": fits,
    }


HARDWARE = {
    "work": "matmul:64x64x64",
    "device": "xc7z010",
    "factor": 2.5,
    "factor_is": "predicted",
    "variants": 90,
    "excluded": 42,
    "limits": {"dsp": 80, "lut": 17600},
    "chosen": design("v4_16_with_a_long_name_128m_64_sg", 67, 0.12, True),
    "base": design("v4_16", 35, 0.3, True),
    "found": [design("v4_16_with_a_long_name_128m_64_sg", 67, 0.12, True)],
    "refused": [design("v4_16_256m", 131, 0.08, False)],
}
"""As ``axiloom explore --device --json`` writes it."""


def test_designs_are_drawn_under_their_limit() -> None:
    page = front.render([], HARDWARE, "axiloom explore")
    assert "is 2.50 times as fast as v4_16 under xc7z010" in page
    assert "there are 80" in page
    assert page.count("<circle") == 2 * 2  # what fits, wide and narrow; the other is a cross
    assert "v4_16_256m<small> does not fit" in page


@pytest.mark.parametrize(
    ("there", "broken", "said"),
    [
        (r"timeline-data\">.*?<", 'timeline-data">3<', "its timeline: $: 3 is not of type 'object', 'null'"),
        (r'"places":\{', '"places":{"losses":{"pack":1},', "its timeline: $.places.losses.pack: 1 is not"),
        (r"report-data\">", 'report-data">[', "its data is no JSON"),
    ],
)
def test_a_page_that_was_changed_is_refused(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], there: str, broken: str, said: str
) -> None:
    html = (saved / "index.html").read_text(encoding="utf-8").replace('"losses":{', '"others":{')
    (tmp_path / "index.html").write_text(re.sub(there, broken, html, count=1))
    assert main(["report", str(saved), str(tmp_path), "--report", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err


def test_a_page_that_is_of_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "index.html").write_text("<!doctype html><p>hello")
    assert main(["report", str(tmp_path), str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "no page of a run; `axiloom run ... --report DIR` writes one" in error
    assert error.count("\n") == 1
    assert main(["report", str(tmp_path)]) == 2
    assert "two runs or more" in capsys.readouterr().err


def test_the_front_is_what_no_other_beats() -> None:
    points = [front.Point(x, y, f"{x} {y}") for x, y in ((1, 9), (2, 5), (3, 6), (4, 5), (5, 1))]
    points.append(front.Point(0, 0, "too large", fits=False))
    assert [(point.x, point.y) for point in front.front(points)] == [(1, 9), (2, 5), (5, 1)]


def test_a_search_is_its_points(tmp_path: Path) -> None:
    choices = ax.explore("matmul:16x16x16", on="v3_4", show=4, progress=False)
    html = choices.save(tmp_path).read_text(encoding="utf-8")
    best = choices.rows[0]
    assert f"★ {best['flow']} {best['order']} {best['tile']} {best['pipeline']}" in html
    assert html.count("<circle") == 2 * len(choices)  # wide and narrow
    assert choices._repr_html_().startswith("<iframe")
