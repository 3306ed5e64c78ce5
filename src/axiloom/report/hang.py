"""A run that hung, as a part of its report: the packets at hand, instructions so far, and what to try."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from axiloom.cosim.diagnosis import Channel, Device, Outcome, Stopped
from axiloom.report.types import Hang


@dataclass(frozen=True)
class Setting:
    """What the remedies depend on beside the state of the hardware."""

    pipeline: str | None
    """None: a driver of the user's own."""
    own_rtl: bool


def of(message: str, stopped: Stopped, setting: Setting) -> Hang:
    """The part of the report."""
    facts = [["stopped after", f"{stopped.cycles:,} fabric cycles"]]
    for device in stopped.devices:
        name = f"{device.name}: " if device.name else ""
        facts += [[name + title, text] for title, text in _facts(device)]
    facts.append(["CPU", stopped.cpu])
    facts += [
        [name, text] for name, text in (("registers", stopped.registers), ("reset", stopped.reset)) if text
    ]
    return {
        "message": message,
        "facts": facts,
        "remedies": [text for remedy in _REMEDIES if (text := remedy(stopped, setting))],
    }


def _facts(device: Device) -> Iterator[tuple[str, str]]:
    counts = ", ".join(f"{name} {count:,}" for name, count in device.instructions.items())
    if counts:
        yield "instructions begun", counts
    yield "packet to the device (MM2S)", _packet(device.mm2s, "sent", "not taken")
    yield "packet from the device (S2MM)", _packet(device.s2mm, "received", "not taken")
    yield "words by the specification", device.protocol


def _packet(channel: Channel, moved: str, held: str) -> str:
    if not channel.busy and not channel.valid:
        return f"none under way; the last one had {channel.words_asked:,} words"
    said = f"{channel.words_moved:,} of {channel.words_asked:,} words {moved}"
    if not channel.valid:
        return f"{said}; no word is offered (TVALID 0, TREADY {int(channel.ready)})"
    last = "with TLAST" if channel.last else "without TLAST"
    state = "taken" if channel.ready else held
    return f"{said}; a word is offered {last} and {state} (TVALID 1, TREADY {int(channel.ready)})"


# --- remedies: each says what to do where it applies ---------------------------------------------------

Remedy = Callable[[Stopped, Setting], str]


def _register(stopped: Stopped, setting: Setting) -> str:
    if not stopped.polled:
        return ""
    return (
        "See where your RTL sets the bits that `wait` names, and whether the driver writes the start before "
        "it: the order of `opcode_map` is the order of the driver"
    )


def _starts_on_tlast(stopped: Stopped, setting: Setting) -> str:
    """The device has taken all and sends nothing, in packets of several instructions."""
    silent = any(
        device.s2mm.busy and not device.s2mm.valid and not device.mm2s.busy for device in stopped.devices
    )
    if not silent or not setting.own_rtl or setting.pipeline in (None, "published"):
        return ""
    return (
        "If your device starts on TLAST or counts it: --pipeline published sends each instruction as a packet"
    )


def _too_long(stopped: Stopped, setting: Setting) -> str:
    stuck = [
        device
        for device in stopped.devices
        if device.mm2s.valid and not device.mm2s.ready and device.mm2s.busy
    ]
    if not stuck:
        return ""
    channel = stuck[0].mm2s
    left = channel.words_asked - channel.words_moved
    what = "your RTL" if setting.own_rtl else "the device"
    return (
        f"{what[0].upper()}{what[1:]} stopped taking words {left:,} before the packet's end: compare the "
        "words that it counts for this instruction with `opcode_map` and the tile (`accel_size`)"
    )


def _too_few(stopped: Stopped, setting: Setting) -> str:
    waiting = [device for device in stopped.devices if device.s2mm.busy and not device.s2mm.valid]
    if not waiting:
        return ""
    channel = waiting[0].s2mm
    if channel.words_moved:
        return (
            f"{channel.words_moved:,} of {channel.words_asked:,} words came: compare the words of a result "
            "in your RTL with the tile of `recv`; a result that is shorter must end with TLAST"
        )
    return (
        "No word of the result came: the device may wait for words, for another opcode word, or for a start"
    )


def _no_receive(stopped: Stopped, setting: Setting) -> str:
    if not any(device.s2mm.valid and not device.s2mm.busy for device in stopped.devices):
        return ""
    missing = "`recv` is missing in `opcode_map`, or in the driver"
    return f"The device sends what no receive was started for: {missing}"


def _error(stopped: Stopped, setting: Setting) -> str:
    if stopped.outcome is not Outcome.DEVICE_ERROR:
        return ""
    return "The device refused a word: the last opcode and its words are above"


def _waveform(stopped: Stopped, setting: Setting) -> str:
    begin = max(0, stopped.cycles - 2_000)
    return f"Waveforms of the end: --trace run.fst --trace-window {begin}:{stopped.cycles}"


_REMEDIES: tuple[Remedy, ...] = (
    _starts_on_tlast,
    _register,
    _error,
    _too_long,
    _too_few,
    _no_receive,
    _waveform,
)
"""In the order in which they are told."""
