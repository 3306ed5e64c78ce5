"""The boards themselves, for `axiloom board new`: part, processing system, ports, where registers may lie.

One file a board, `<name>/board.toml`, beside the profile of the simulated SoC where there is one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axiloom import boards
from axiloom.base.errors import UsageError
from axiloom.boards import hosts
from axiloom.boards.hosts.host import Host

_HERE = Path(__file__).parent

FAMILIES = ("zynq", "zynqmp", "ecp5")
"""Zynq-7000 and Zynq UltraScale+ with Vivado; ECP5 with the open flow and no processor."""


@dataclass(frozen=True)
class Registers:
    """The processor's port to the registers, `first` to `last`; built-in accelerators are at `base`."""

    port: str
    first: int
    last: int
    base: int


@dataclass(frozen=True)
class Memory:
    """The processor's port to memory: its address segment in a block design, and its width in bits."""

    port: str
    segment: str
    data_width: int


@dataclass(frozen=True)
class Led:
    """A light on a pin of the programmable logic."""

    pin: str
    standard: str


@dataclass(frozen=True)
class Cpu:
    """What programs are compiled for (zig's names of target and CPU)."""

    linux: str
    model: str
    clock_hz: int

    @property
    def host(self) -> Host:
        return hosts.get(self.model)


@dataclass(frozen=True)
class Hardware:
    """A board. Build one with :func:`load`. Without a processor `registers`, `memory` and `cpu` are None."""

    name: str
    description: str
    family: str
    part: str
    fabric_hz: int
    ram_bytes: int
    """From physical address 0, as far as 32 bits reach."""
    board_part: str
    """Pattern of Vivado's name of the board; empty where it knows none."""
    board_connections: tuple[str, ...]
    registers: Registers | None
    memory: Memory | None
    coherent: Memory | None
    """The port that looks into the CPU's caches; None where folders are written for no such port."""
    led: Led | None
    cpu: Cpu | None
    processing_system: Mapping[str, str]
    """Properties of Vivado's core, without ``CONFIG.``."""


_SIMULATED = {"zynq": "pynq-z2", "zynqmp": "zcu104"}
"""Family to the simulated board that stands for those without a profile of their own."""


def profile(name: str, family: str) -> boards.Board | None:
    """The simulated board that is nearest to the board `name`; None for a family without a processor."""
    if family not in _SIMULATED:
        return None
    return boards.load(name if name in boards.names() else _SIMULATED[family])


def names() -> list[str]:
    """Boards that a folder can be written for."""
    return sorted(path.parent.name for path in _HERE.glob("*/board.toml"))


def load(name: str) -> Hardware:
    """The board `name`. UsageError lists the ones there are."""
    if name not in names():
        raise UsageError(f"board {name!r} is unknown: use one of {', '.join(names())}")
    data = _read(name)
    try:
        return Hardware(
            name=data["name"],
            description=data["description"],
            family=data["family"],
            part=data["part"],
            fabric_hz=data["fabric_hz"],
            ram_bytes=data["ram_bytes"],
            board_part=data.get("board_part", ""),
            board_connections=tuple(data.get("board_connections", ())),
            registers=_section(Registers, data, "registers"),
            memory=_section(Memory, data, "memory"),
            coherent=_section(Memory, data, "coherent"),
            led=_section(Led, data, "led"),
            cpu=_section(Cpu, data, "cpu"),
            processing_system=data.get("processing_system", {}),
        )
    except (KeyError, TypeError) as error:
        raise UsageError(f"{_HERE / name / 'board.toml'}: {error} is missing or wrong") from None


def _read(name: str) -> dict[str, Any]:
    """The file of a board, over the one that it is `like`."""
    data = tomllib.loads((_HERE / name / "board.toml").read_text(encoding="utf-8"))
    like = data.pop("like", None)
    return {**_read(like), **data} if like else data


def _section(cls: type[Any], data: Mapping[str, Any], key: str) -> Any:
    return cls(**data[key]) if key in data else None
