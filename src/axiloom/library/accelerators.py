"""What a device is: an opcode map with its hardware, or an instruction set with meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path

from axiloom.base import processes
from axiloom.base.errors import SpecError, UsageError
from axiloom.device.rtl import DEFAULT_LANES, DeviceRtl
from axiloom.device.rtl import device as rtl_of
from axiloom.explore.asked import Asked
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa import AcceleratorSpec
from axiloom.isa.instructions import library
from axiloom.isa.instructions.tree import InstructionSet

WIDTH = 64
"""Bits of a stream, where nobody says them."""


@dataclass(frozen=True)
class Device:
    """An accelerator as it is asked for, by :func:`device`; what is left open is chosen for a problem."""

    source: str
    """As `device` was given it."""
    asked: Asked
    notes: tuple[str, ...] = ()
    """Of a specification that was drafted: what is guessed, and what is to do."""

    @cached_property
    def spec(self) -> AcceleratorSpec:
        """The specification, of int32 where it takes several types. Raises SpecError with all faults."""
        return self.asked.spec()

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def hardware(self) -> Asked:
        """What compilers choose drivers for. Raises UsageError where that is another's work."""
        return self.asked

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


@dataclass(frozen=True)
class TextDevice(Device):
    """An instruction set with meaning, whose RTL is made of its text."""

    constants: Mapping[str, int] = field(default_factory=dict)
    """Of its text, in place of those that it has."""
    lanes: int = DEFAULT_LANES
    product_rows: int = 1
    stream_width: int = WIDTH
    _built: dict[str, DeviceRtl] = field(default_factory=dict, compare=False, repr=False)

    def read(self, more: Mapping[str, int] | None = None) -> InstructionSet:
        """The text, with `more` constants. Raises SpecError."""
        return library.target(self.source, constants={**(more or {}), **self.constants})

    @cached_property
    def instructions(self) -> InstructionSet:
        """Registers, memories, and what each instruction does. Raises SpecError with the line."""
        return self.read()

    @cached_property
    def spec(self) -> AcceleratorSpec:
        """There is none. Raises UsageError."""
        raise UsageError(
            f"{self.source}: an instruction set with meaning has no opcode map: take `instructions`"
        )

    @property
    def name(self) -> str:
        return self.instructions.name

    @property
    def hardware(self) -> Asked:
        """None. Raises UsageError."""
        raise UsageError(f"{self.source}: is an instruction set with meaning, for `ax.plan` and `ax.run`")

    @cached_property
    def faults(self) -> tuple[str, ...]:
        """All that is wrong with the text, each with its line; empty where nothing is."""
        try:
            self.instructions  # noqa: B018 (it is read and checked)
        except SpecError as error:
            return error.faults
        return ()

    def rtl(self, isa: InstructionSet | None = None) -> DeviceRtl:
        """Of its text, or of the same with other constants. Raises SpecError where nothing builds it."""
        isa = isa or self.instructions
        key = repr(isa)
        if key not in self._built:
            self._built[key] = rtl_of(isa, self.lanes, self.stream_width, self.product_rows)
        return self._built[key]

    @property
    def called(self) -> str:
        """How a program names it: a file's name, or nothing."""
        return Path(self.source).name if self.source.endswith(library.INSTRUCTIONS) else ""

    def verilog(self, top: str = "soc") -> str:
        from axiloom.hw.verilog import emit

        with processes.scratch() as folder:
            rtl = self.rtl()
            return emit.emit([rtl.spec], top=top, user_rtl=rtl.rtl(Path(folder)))

    def __repr__(self) -> str:
        words = "".join(
            f", {'defines' if item.name == 'constants' else item.name}={getattr(self, item.name)!r}"
            for item in fields(TextDevice)[3:-1]
            if getattr(self, item.name) not in (item.default, {})
        )
        return f"ax.device({self.source!r}{words})"
