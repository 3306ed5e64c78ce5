"""What a stopped simulation says to a person: one paragraph from the state of wrapper, core and DMA."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from pathlib import Path

from axiloom.isa.contract.dma_registers import DMASR
from axiloom.isa.contract.errors import DeviceError


class Outcome(IntEnum):
    """How a run ended; the numbers are OUTCOME_* of :file:`rtl/axiloom_tb.v`."""

    RUNNING = 0
    HALT = 1
    STALL = 2
    NO_IRQ = 3
    DEVICE_ERROR = 4


_SAID = tuple(field for field in DMASR.fields if field.name != "SGIncld")
"""That there is scatter-gather is no news."""


def dmasr(value: int) -> str:
    """A status register with its bits by name: ``0x00001002 (Idle, IOC_Irq)``."""
    names = [field.name for field in _SAID if value & field.mask]
    return f"0x{value:08x} ({', '.join(names) or 'running, not idle'})"


@dataclass(frozen=True)
class Channel:
    """One DMA channel and its stream at the end of a run."""

    status: int
    bytes_asked: int
    """Last LENGTH written, or what the descriptor asks for."""
    words_moved: int
    """Over the accelerator's stream since then, or for the descriptor."""
    valid: bool
    ready: bool
    busy: bool
    descriptor: int | None = None
    """Address of the one being worked on; None without scatter-gather."""
    last: bool = False
    """TLAST of the word that is offered."""

    @property
    def where(self) -> str:
        """The descriptor, as an insertion into a sentence."""
        return "" if self.descriptor is None else f" for the descriptor at 0x{self.descriptor:08X}"

    @property
    def words_asked(self) -> int:
        return -(-self.bytes_asked // 4)


@dataclass(frozen=True)
class Device:
    """An accelerator and its DMA at the end of a run."""

    name: str
    """Empty where there is one accelerator: nobody asks which."""
    error: int
    mm2s: Channel
    s2mm: Channel
    protocol: str
    """Where both streams stand, with the last opcode, as the core's monitor says it."""
    why: str = ""
    """What a functional model says of its error; RTL has only the number."""
    instructions: Mapping[str, int] = field(default_factory=dict)
    """Opcode to how often it has begun."""
    fifo: bool = False
    """An AXI4-Stream FIFO takes the DMA's place: `status` of the channels is TDFV and RDFO."""
    undone: tuple[str, ...] = ()
    """Registers that the driver never wrote, as parts of a sentence."""


@dataclass(frozen=True)
class Stopped:
    """Everything that is known about a run that did not end by itself."""

    outcome: Outcome
    reason: str
    """Empty, or why the session itself gave up (a timeout)."""
    cycles: int
    devices: tuple[Device, ...]
    cpu: str
    """Where the CPU is, with symbols."""
    polled: str = ""
    """The register of the accelerator that the driver waits for, and what it waits for; empty: none."""
    registers: str = ""
    """Of a user's module: which of its registers were written; empty: it has none."""
    reset: str = ""
    """That it runs with the other polarity of its reset; empty: it does not, or nobody tried."""


def _send_stall(channel: Channel) -> str | None:
    if not channel.busy:
        return None
    progress = f"{channel.words_moved} of {channel.words_asked} words sent{channel.where}"
    if channel.valid and not channel.ready:
        return f"s_axis (to the device, MM2S) stalls, the device takes no more words: {progress}"
    return f"MM2S does not finish: {progress}"


def _receive_stall(channel: Channel) -> str | None:
    if channel.busy and not channel.valid:
        missing = channel.words_asked - channel.words_moved
        return (
            f"m_axis (from the device, S2MM) stalls, the device sends nothing: "
            f"{channel.words_asked} words expected{channel.where}, {channel.words_moved} received, "
            f"{missing} missing"
        )
    if channel.busy:
        expected = f"{channel.words_asked} words expected{channel.where}"
        return f"S2MM does not finish: {expected}, {channel.words_moved} received"
    if channel.valid and not channel.ready:
        what = "receive was started" if channel.descriptor is None else "descriptor is there"
        return f"m_axis (from the device, S2MM) stalls, the device has words that no {what} for"
    return None


def _fifo_stall(channel: Channel) -> str | None:
    if channel.valid and not channel.ready:
        return "m_axis (from the device) stalls, the FIFO is full: RLR and RDFD make room"
    if channel.busy:
        return f"m_axis (from the device) stalls: {channel.words_moved} words came, the last without TLAST"
    return None


def _error(device: Device) -> str:
    try:
        name = DeviceError(device.error).name
    except ValueError:
        name = f"error {device.error}"
    # The model's line begins with the error's name.
    return f"the accelerator stopped with {device.why or name}"


def _of(device: Device, text: str) -> str:
    return f"{device.name}: {text}" if device.name else text


def _errors(stopped: Stopped) -> list[str]:
    return [_of(device, _error(device)) for device in stopped.devices if device.error]


def _stalls(stopped: Stopped) -> list[str]:
    return [
        _of(device, text)
        for device in stopped.devices
        for text in (_send_stall(device.mm2s), (_fifo_stall if device.fifo else _receive_stall)(device.s2mm))
        if text
    ]


def _state(stopped: Stopped) -> list[str]:
    said = []
    for device in stopped.devices:
        said.append(_of(device, device.protocol))
        if device.fifo:
            said.append(f"TDFV {device.mm2s.status}, RDFO {device.s2mm.status} words")
        else:
            said.append(f"MM2S_DMASR {dmasr(device.mm2s.status)}, S2MM_DMASR {dmasr(device.s2mm.status)}")
    return [*said, stopped.cpu]


def hang_message(stopped: Stopped) -> str:
    """One paragraph: which stream stalls, last opcode, words, DMA status, CPU."""
    when = stopped.reason or f"no progress, stopped after {stopped.cycles:,} fabric cycles"
    causes = _stalls(stopped)
    causes += [text for text in (stopped.polled, stopped.registers) if text]
    if stopped.reset:
        causes.insert(0, stopped.reset)
    if errors := _errors(stopped):
        when = stopped.reason or f"stopped after {stopped.cycles:,} fabric cycles"
        causes = [*errors, *causes]
    if not causes and stopped.outcome is Outcome.NO_IRQ:
        causes = ["the CPU waits for an interrupt and nothing in flight can raise one"]
    if not causes:
        causes = ["no stream stalls"]
    causes += [_of(device, text) for device in stopped.devices for text in device.undone]
    return f"{when}: {'; '.join([*causes, *_state(stopped)])}"


def first_of(what: str, lines: Sequence[str]) -> str:
    """Of several lines: the first, and how many more there are."""
    more = f" ({len(lines) - 1} more place{'s' if len(lines) > 2 else ''})" if len(lines) > 1 else ""
    return f"{what}: {lines[0]}{more}"


def exit_message(stopped: Stopped, exit_code: int, *, of_runtime: bool = True) -> str:
    """Why a program's return value is no success, and what it left unfinished.

    `of_runtime`: the value may be a dma_status, because the program calls what gives them.
    """
    stalls = _stalls(stopped)
    text = _status_text(exit_code) if of_runtime else f"the driver returned {exit_code}"
    return "; ".join([text, *stalls, *(_state(stopped) if stalls else [])])


@cache
def _header() -> str:
    return (Path(__file__).parent.parent / "sw" / "include" / "axiloom.h").read_text(encoding="utf-8")


@cache
def runtime_functions() -> frozenset[str]:
    """Functions of the runtime that give a dma_status."""
    return frozenset(re.findall(r"^dma_status (\w+)\(", _header(), re.MULTILINE))


@cache
def _statuses() -> dict[int, tuple[str, str]]:
    """Number to name and meaning of each dma_status, read from the runtime's header."""
    body = re.search(r"typedef enum \{(.*?)\} dma_status;", _header(), re.DOTALL)
    if body is None:
        return {}
    entries = re.findall(r"(DMA_\w+)[^/\n]*(?:/\*\s*(.*?)\s*\*/)?", body.group(1), re.DOTALL)
    return {number: (name, " ".join(text.split())) for number, (name, text) in enumerate(entries)}


def _status_text(exit_code: int) -> str:
    name, meaning = _statuses().get(exit_code, ("", ""))
    if not name:
        return f"the driver returned {exit_code}"
    return f"the driver returned {exit_code}, {name}" + (f": {meaning}" if meaning else "")
