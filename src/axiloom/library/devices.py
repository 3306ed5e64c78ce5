"""Accelerators and boards as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from axiloom import boards
from axiloom.base.errors import SpecError, UsageError
from axiloom.explore.asked import MODEL, MOST, Asked
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa import AcceleratorSpec

Source: TypeAlias = str | Path | AcceleratorSpec


@dataclass(frozen=True)
class Device:
    """An accelerator as it is asked for, by :func:`device`; what is left open is chosen for a problem."""

    source: str
    """As `device` was given it."""
    asked: Asked

    @cached_property
    def spec(self) -> AcceleratorSpec:
        """The specification, of int32 where it takes several types. Raises SpecError with all faults."""
        return self.asked.spec()

    @property
    def name(self) -> str:
        return self.spec.name

    @cached_property
    def faults(self) -> tuple[str, ...]:
        """All that is wrong with the specification, each with its place; empty where nothing is."""
        try:
            self.spec  # noqa: B018 (it is read and checked)
        except SpecError as error:
            return error.faults
        return ()

    @property
    def user_rtl(self) -> UserRtl | None:
        """The files of RTL that stand in its place."""
        return self.asked.user_rtl(self.spec) if self.asked.is_verilog else None

    def verilog(self, top: str = "soc") -> str:
        """The Verilog of the accelerator with its DMA (`top` ``soc``), or of itself (``accelerator``)."""
        from axiloom.hw.verilog import emit

        return emit.emit([self.spec], top=top, user_rtl=self.user_rtl)

    def __repr__(self) -> str:
        others = replace(self.asked, accel=None, file=None, own=None)
        changed = {
            name: value
            for name, value in vars(others).items()
            if value != getattr(Asked(), name) and name != "board"
        }
        if "rtl" in changed:
            changed["rtl"] = [str(path) for path in others.rtl]
        words = "".join(f", {name}={value!r}" for name, value in changed.items())
        return f"ax.device({self.source!r}{words})"


def device(
    source: Source,
    *,
    rtl: Sequence[str | Path] | str = (),
    top: str | None = None,
    size: int | None = None,
    encoding: str | None = None,
    post: bool = False,
    stream_width: int | None = None,
    macs: int | str | None = None,
    dma: str | None = None,
    memory_port: str | None = None,
) -> Device:
    """An accelerator: a built-in one by its name (``v3_16``), a specification by its file (``mine.json``) or
    as a value.

    `rtl`: Verilog or VHDL in its place, with the module `top`, called as the first file by default;
    ``"model"``: the functional model, before there is RTL. `size` (of a tile), `encoding` (of opcodes) and
    `post` are of built-in ones; `stream_width` in bits, `macs` multiply-adds a cycle, `dma` ``simple`` or
    ``sg``, `memory_port` ``plain`` or ``coherent``. Nothing is read before it is needed: `Device.faults`
    says what is wrong with a file.

    Raises UsageError for words that go with no accelerator.
    """
    accel, file, own = None, None, None
    if isinstance(source, AcceleratorSpec):
        own = source
    elif str(source).endswith(".json"):
        file = Path(source)
    elif Path(source).suffix:
        raise UsageError(
            f"ax.device({str(source)!r}): accepted are built-in names, files of JSON, specifications"
        )
    else:
        accel = str(source)
    files = tuple(Path(path) for path in ([rtl] if isinstance(rtl, str) else rtl))
    _check(
        (
            "size, encoding, post",
            accel is None and (size or encoding or post),
            "are of built-in accelerators",
        ),
        ("top", top and not files, "names a module of `rtl`: give the files, too"),
        ("macs", macs and files and MODEL not in files, "sizes a generated array: `rtl` has its own"),
        ("macs", isinstance(macs, str) and macs != MOST, f"is a number, or {MOST!r}"),
        ("dma", dma not in (None, "simple", "sg"), "is 'simple' or 'sg'"),
    )
    if top is None and files and MODEL not in files:
        top = files[0].stem
    asked = Asked(
        accel, size, file, encoding, post, files, top, stream_width, macs, dma, memory_port, own=own
    )  # fmt: skip
    return Device(source.name if isinstance(source, AcceleratorSpec) else str(source), asked)


def _check(*refusals: tuple[str, object, str]) -> None:
    for name, wrong, why in refusals:
        if wrong:
            raise UsageError(f"ax.device: `{name}` {why}")


def board(name: str | Path = boards.DEFAULT) -> boards.Board:
    """The profile of a board by its name, or from a file of TOML: clocks, caches, latencies, and their
    source."""
    return boards.load(str(name))


def together(on: Device | Source | Sequence[Device | Source] | None, board_name: str) -> Asked:
    """What `on` asks for, of one accelerator or several."""
    if on is None:
        return Asked(board=board_name)
    if isinstance(on, (Device, str, Path, AcceleratorSpec)):
        return replace((on if isinstance(on, Device) else device(on)).asked, board=board_name)
    devices = [item if isinstance(item, Device) else device(item) for item in on]
    if not devices:
        raise UsageError("on=[]: no accelerator; leave `on` out, and one is chosen")
    if len(devices) == 1:
        return replace(devices[0].asked, board=board_name)
    asked = [item.asked for item in devices]
    first = replace(asked[0], accel=None)
    if any(item.accel is None or replace(item, accel=None) != first for item in asked):
        raise UsageError(
            "on=[...]: of several accelerators each is a built-in one, all with the same options"
        )
    return replace(first, accel=",".join(str(item.accel) for item in asked), board=board_name)
