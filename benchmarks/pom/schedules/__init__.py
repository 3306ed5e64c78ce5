"""Schedules of POM's kernels: ``gemm.pom.sched`` with as many lanes as POM has, ``gemm.ours.sched`` with what
fits an XC7Z020. Those of the networks are alike for each layer, and made (`networks.py`)."""

from __future__ import annotations

from pathlib import Path

from axiloom.nests.program import Program
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.replay import replay
from benchmarks.pom.schedules import networks

VARIANTS = ("pom", "ours")


def scheduled(program: Program, name: str, variant: str) -> Schedule:
    file = Path(__file__).with_name(f"{name}.{variant}.sched")
    text = file.read_text(encoding="utf-8") if file.exists() else networks.text(program, name, variant)
    return replay(program, text, file.name)
