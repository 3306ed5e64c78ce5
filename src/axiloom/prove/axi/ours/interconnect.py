"""Several DMAs on one port to memory."""

from __future__ import annotations

from typing import Any

from axiloom.hw.axi.interconnect import ReadArbiter, WriteArbiter
from axiloom.hw.axi.rules.language import Side
from axiloom.prove.axi.ours.target import Target, signals
from axiloom.prove.axi.watched import watch
from axiloom.prove.bench import Bench


def _read_arbiter(bench: Bench, width: int, most: int) -> None:
    _arbiter(bench, bench.component("arbiter", ReadArbiter(2, width)), most)


def _write_arbiter(bench: Bench, width: int, most: int) -> None:
    _arbiter(bench, bench.component("arbiter", WriteArbiter(2, width)), most)


def _arbiter(bench: Bench, arbiter: Any, most: int) -> None:
    for name in ("master0", "master1"):
        watch(bench, name, signals(getattr(arbiter, name)), Side.SUBORDINATE, outstanding=most)
    watch(bench, "bus", signals(arbiter.bus), Side.MANAGER, outstanding=most)


TARGETS = {
    "read_arbiter": Target("several DMAs' reads on one port to memory", _read_arbiter, streams=True),
    "write_arbiter": Target("several DMAs' writes on one port to memory", _write_arbiter, streams=True),
}
