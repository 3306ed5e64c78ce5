"""The recorder: classes of cycles and intervals, held against the counters of the RTL and of the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from axiloom import drivergen, isa
from axiloom.cosim import profile
from axiloom.cosim.job import Result
from axiloom.cosim.profile import Interval, Timeline
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.isa import AcceleratorSpec
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import Watch
from axiloom.run.run import simulate as simulated

SPEC = isa.builtin("v3", 4)


def simulate(
    spec: AcceleratorSpec,
    sim: str = "verilator",
    problem: str = "matmul:12x12x12",
    flow: str = "As",
    timeline: bool = True,
    pipeline: str = "published",
) -> Result:
    parsed = drivergen.parse_problem(problem)
    mlir = drivergen.matmul_mlir(parsed.M, parsed.N, parsed.K, "int32")
    schedule = Schedule(flow, pipeline=pipeline)
    made = ProblemRun(Workload(problem, mlir), System(spec, sim=sim), schedule)
    result = simulated(made, Watch(timeline=timeline))
    assert made.checked(result)["result"]["matches"]
    return result


@cache
def run(sim: str = "verilator", timeline: bool = True) -> Result:
    return simulate(SPEC, sim, timeline=timeline)


def recorded(result: Result) -> Timeline:
    assert result.profile.timeline is not None
    return result.profile.timeline


def row(result: Result, *hardware: str) -> int:
    return sum(sum(result.profile.cells[name].values()) for name in hardware)


def cycles(found: Iterator[Interval]) -> float:
    return sum(one.end - one.begin for one in found) / 10  # 100 MHz


def test_every_cycle_is_in_one_class_and_agrees_with_the_counters() -> None:
    result = run()
    fabric = result.fabric
    assert row(result, *profile.HARDWARE) == fabric["cycles"]
    assert row(result, "compute") == fabric["compute"]
    assert row(result, "load_new", "load_again", "load_head") == fabric["load"]
    assert row(result, "store") == fabric["store"]
    assert (
        row(result, "in_stalled", "in_starved", "receiving", "quiet") == fabric["dma_wait"] + fabric["idle"]
    )
    cells = result.profile.cells
    waiting = sum(cells[hw]["poll"] + cells[hw]["access"] for hw in profile.HARDWARE)
    stalled = result.counters["stall-cycles"] * 100 / 650
    assert stalled <= waiting  # a poll is more than its stall: the loop around it counts too


@pytest.mark.parametrize("track", profile.TRACKS)
def test_intervals_of_a_track_do_not_overlap(track: str) -> None:
    timeline = recorded(run())
    found = list(timeline.intervals(track))
    assert found
    assert all(one.begin < one.end for one in found)
    assert all(one.end <= other.begin for one, other in pairwise(found))
    assert found[-1].end <= timeline.nanoseconds + 10  # the CPU's last cycle may be a part of the fabric's


def test_intervals_add_up_to_the_counters() -> None:
    result = run()
    timeline, fabric = recorded(result), result.fabric
    assert timeline.resolution == 0
    assert cycles(timeline.intervals("compute")) == fabric["compute"]
    active = [one for one in timeline.intervals("stream") if one.kind == "active"]
    assert cycles(iter(active)) == fabric["words_in"] == sum(one.bytes for one in active) / 4
    assert sum(one.bytes for one in timeline.intervals("mm2s")) == 4 * fabric["words_in"]
    assert sum(one.bytes for one in timeline.intervals("s2mm")) == 4 * fabric["words_out"]
    assert len(list(timeline.intervals("mm2s"))) == fabric["transfers_in"]
    assert len(list(timeline.intervals("s2mm"))) == fabric["transfers_out"]
    assert sum(one.bytes for one in timeline.intervals("store")) == 4 * fabric["words_out"]
    tiles = 4 * row(result, "load_new", "load_again")
    assert sum(one.bytes for one in timeline.intervals("load")) >= tiles  # those under compute are not in it
    cpu = list(timeline.intervals("cpu"))
    assert cpu[0].begin == 0
    assert cycles(iter(cpu)) == pytest.approx(fabric["cycles"], abs=4)
    assert sum(f.cycles for f in result.profile.functions) == result.counters["cpu-cycles"]
    assert sum(f.waiting for f in result.profile.functions) == result.counters["stall-cycles"]


def test_the_cpu_is_seen_at_its_work() -> None:
    result = run()
    by_kind: dict[str, set[str]] = {}
    for one in recorded(result).intervals("cpu"):
        by_kind.setdefault(one.kind, set()).add(one.name)
    assert {"startup", "code", "pack", "unpack", "access", "poll"} <= set(by_kind)
    assert by_kind["startup"] == {"_start"}
    assert by_kind["pack"].isdisjoint(by_kind["unpack"] - {"memcpy"})
    names = {one.name for one in recorded(result).intervals("load")}
    assert names == {"sA A", "sB B"}
    assert {one.name for one in recorded(result).intervals("store")} == {"rC C"}
    assert {one.name for one in recorded(result).intervals("compute")} == {"cC"}


def test_of_several_opcodes_the_last_that_loaded_computes() -> None:
    made = replace(
        recorded(run()),
        payloads={0: "a A", 256: "b B"},
        computing=("a", "b"),
        raw=np.array(
            [
                (begin, begin + 9, 0, profile.TRACKS.index(track), 0, name, 0, 1, 0)
                for begin, track, name in [
                    (0, "load", 0),
                    (10, "compute", 0),
                    (30, "load", 256),
                    (40, "compute", 0),
                    (60, "compute", 0),
                ]
            ],
            recorded(run()).raw.dtype,
        ),
    )
    assert [one.name for one in made.intervals("compute")] == ["a", "b", "b"]
    untold = replace(made, computing=("a", "b", "c"))  # c loads nothing: it could be any of the three
    assert [one.name for one in untold.intervals("compute")] == ["", "", ""]


def test_the_timeline_changes_no_counter() -> None:
    with_it, without = run(), run(timeline=False)
    assert without.profile.timeline is None
    assert without.counters == with_it.counters
    assert without.fabric == with_it.fabric
    assert without.profile.cells == with_it.profile.cells
    assert without.profile.transfers == with_it.profile.transfers


def test_a_tile_that_the_device_still_has_is_seen() -> None:
    """With one tile in n and k, Cs sends the same B with every step of m; As keeps what it can."""
    result = simulate(SPEC, problem="matmul:16x4x4", flow="Cs", timeline=False)
    words = SPEC.operand_words("B")
    assert row(result, "load_again") == 3 * words  # the first of four is new
    assert row(result, "load_new") == words + 4 * SPEC.operand_words("A")


@pytest.mark.slow
@pytest.mark.icarus
def test_both_simulators_record_the_same() -> None:
    one, other = run(), run(sim="icarus")
    assert one.profile.cells == other.profile.cells
    assert one.profile.functions == other.profile.functions
    assert one.profile.transfers == other.profile.transfers
    assert (recorded(one).raw == recorded(other).raw).all()


@pytest.mark.slow
def test_a_scatter_gather_dma_has_an_interval_for_each_descriptor() -> None:
    """Also those of one word, an opcode, that follow each other without a gap."""
    spec = isa.revise(SPEC, dma=replace(SPEC.link.dma, scatter_gather=True))
    result = simulate(spec, pipeline="all", flow="Cs")
    assert result.fabric["transfers_in"] > 50
    timeline = recorded(result)
    assert len(list(timeline.intervals("mm2s"))) == result.fabric["transfers_in"]
    assert sum(one.bytes for one in timeline.intervals("mm2s")) == 4 * result.fabric["words_in"]
    assert row(result, *profile.HARDWARE) == result.fabric["cycles"]
    takes = {one.name for one in timeline.intervals("cpu") if one.kind == "unpack"}
    assert takes & {"add_to_C", "take_oldest"}, "C comes back to on-chip memory"


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    full = recorded(run())
    monkeypatch.setenv("AXILOOM_INTERVALS", "200")
    coarse = recorded(simulate(SPEC))
    assert len(coarse) <= 200 < len(full)
    assert coarse.resolution >= 16
    assert sum(coarse.raw["count"]) == len(full)
    for track in profile.TRACKS:
        found = list(coarse.intervals(track))
        assert all(one.end <= other.begin for one, other in pairwise(found))
    covered = cycles(iter(one for one in coarse.intervals("cpu")))
    assert covered == pytest.approx(coarse.cycles, abs=4)


def test_stack_and_code_are_measured() -> None:
    result = run()
    assert result.profile.stack_bytes is not None
    assert 16 <= result.profile.stack_bytes < 4096
    assert set(result.profile.code_bytes) == {"text", "rodata", "data", "bss"}
    assert result.profile.code_bytes["text"] > 1000
    assert result.profile.code_bytes["bss"] >= 3 * 12 * 12 * 4  # the matrices
