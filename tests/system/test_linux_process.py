"""The driver as a Linux process: its result and the accelerator's cycles are those of bare metal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.simulation import linux_process

from axiloom import boards, isa
from axiloom.boards import Board
from axiloom.cosim import linux
from axiloom.cosim.build import toolchain
from axiloom.cosim.job import Job
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.drivergen.pipeline.schedule import Schedule
from axiloom.isa import AcceleratorSpec
from axiloom.run.compare import compare
from axiloom.run.problem import ProblemRun, Workload

A9, A53 = boards.load("pynq-z2"), boards.load("zcu104")

CASES = [("matmul:48x32x32", isa.builtin("v3", 16), "Cs"), ("conv:8_8_3_4_1", isa.builtin("conv_v3"), None)]


@pytest.mark.slow  # musl is built at first use
@pytest.mark.parametrize(("problem", "spec", "flow"), CASES, ids=["v3_16", "conv_v3"])
def test_process_equals_bare_metal(problem: str, spec: AcceleratorSpec, flow: str | None) -> None:
    found = linux_process.lines(problem, spec, flow)
    assert [one.machine for one in found[::2]] == ["flat armv7", "pynq-z2", "flat aarch64", "zcu104"]
    for bare, process in zip(found[::2], found[1::2], strict=True):
        assert bare.right
        assert process.right
        assert process.cycles == bare.cycles > 0
        assert process.work == bare.work == found[0].work
        assert process.fabric["polls"] == bare.fabric["polls"]
        assert bare.system_calls == 0 < process.system_calls


WAYS = {
    "no devices": ({}, (), "copying"),
    "udmabuf alone": ({}, ("udmabuf",), "copying"),
    "cached windows": ({"AXL_DMA_CACHED": 1}, linux.DEVICES, "copying"),
    "in place": ({}, linux.DEVICES, "all"),
    "in place, no devices": ({}, (), "all"),
}
"""What the program is compiled with, the devices that it finds, passes on transfers."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "board"),
    [*((way, A9) for way in WAYS), ("cached windows", A53), ("in place", A53), ("in place, no devices", A53)],
    ids=lambda part: part if isinstance(part, str) else str(part.architecture),
)
def test_every_way_to_the_hardware(tmp_path: Path, way: str, board: Board) -> None:
    defines, devices, pipeline = WAYS[way]
    spec = isa.builtin("v3", 4)
    if pipeline == "all":
        spec = spec.replace(dma=replace(spec.link.dma, scatter_gather=True))
    run = ProblemRun(Workload.of("matmul:12x8x16"), System(spec), Schedule(pipeline=pipeline))
    driver = run.driver
    for name, text in {"d.c": driver.c, "m.c": driver.harness, driver.header_name: driver.header}.items():
        (tmp_path / name).write_text(text)
    c = [tmp_path / "d.c", tmp_path / "m.c"]
    elf = toolchain.compile_linux(
        c,
        tmp_path / "d.elf",
        board=board,
        spec=spec,
        include=[tmp_path],
        defines=defines,
    )
    job = Job(elf, run.inputs, run.outputs, strict=True, devices=devices)
    (result,) = Soc(System(spec, board=board)).run_many([job])
    assert compare(result, run.expected)["matches"]
    assert result.stale == []
    assert ("no UIO device has its registers at 0x40400000" in result.console) == ("uio" not in devices)
    assert ("no /dev/udmabuf0" in result.console) == ("udmabuf" not in devices)
    maintained = (
        (pipeline == "all" and bool(devices))
        or way == "cached windows"
        or ("in place" in way and board is A53)
    )
    assert (result.events["maintenance"] > 0) == maintained
