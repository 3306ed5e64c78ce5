"""Machine and model side by side on integers: what registers hold when the device is at rest.

A device is at rest when nothing changes any more without another word. Words are given one at a time; after
each the device comes to rest, and what its registers and the model hold then is a sample.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from axiloom.isa.formal.simulate import Memory, Simulator
from axiloom.prove.rtl.maps.device import Device

LONGEST = 3000
"""Cycles until a device must be at rest."""
Control = tuple[int, ...]
"""Values of :attr:`Device.control`."""


class HangError(Exception):
    """A device that does not come to rest."""


@dataclass
class Sample:
    """`registers` of the machine, `model` registers, and the `words` since reset that led there."""

    registers: dict[str, int]
    model: dict[str, int]
    words: tuple[int, ...]


Start = tuple[dict[str, int], tuple[int, ...]]
"""Registers at rest, and the words that came next."""


@dataclass
class Samples:
    """By control state; the registers that data have changed; a stream in which machine and model differ."""

    at: dict[Control, list[Sample]] = field(default_factory=lambda: defaultdict(list))
    data: set[str] = field(default_factory=set)
    walks: list[list[Start]] = field(default_factory=list)
    differs: tuple[int, ...] = ()
    """A stream after which the machine has sent, or told, something else than the model."""


def another(model: Simulator) -> Simulator:
    """A model in the same state that goes on by itself. What makes one anew takes its time."""
    made = copy(model)
    made.state = {name: Memory(one) if isinstance(one, Memory) else one for name, one in model.state.items()}
    return made


class Trial:
    """A device and its model, just reset."""

    def __init__(self, device: Device, step: Any, source: random.Random | None, model: Simulator) -> None:
        """`source`: of what registers hold before the reset; None: zeros."""
        self.device, self.step = device, step
        self.model = another(model)
        self.words: list[int] = []
        widths = {name: term.size() for name, term in device.machine.registers.items()}
        self.registers: dict[str, int] = {
            name: source.getrandbits(bits) if source else 0 for name, bits in widths.items()
        }
        for _ in range(2):
            self.registers, _ = step(self.registers, device.inputs(0, 0, 1, reset=True))
        for _ in range(device.settles):
            self.registers, _ = step(self.registers, device.inputs(0, 0, 1))
        self.trace: list[dict[str, int]] = []
        self.fired: list[str] = []
        self.error = 0
        self.cycles: list[tuple[int, int, int]] = [(0, 0, 1)] * device.settles
        """VALID, TDATA and READY of each cycle since reset."""

    def word(
        self, word: int, ready: Callable[[int], int] = lambda _cycle: 1
    ) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Both take a word; returns what each sent, with TLAST. Raises HangError."""
        self.words.append(word)
        before = self.model.state["n_sent"]
        self.fired = self.model.command(word=word) if self.model.state["error"] == 0 else []
        state = self.model.state
        sent = [(state["sent"][i], state["last"][i]) for i in range(before, state["n_sent"])]
        self.trace = []
        return list(self._run(word, ready)), sent

    def _run(self, word: int, ready: Callable[[int], int]) -> Iterator[tuple[int, int]]:
        device, offered = self.device, 1
        for cycle in range(LONGEST):
            takes = ready(cycle)
            after, out = self.step(self.registers, device.inputs(offered, word, takes))
            self.cycles.append((offered, word, takes))
            if out[f"{device.output}tvalid"] and takes:
                yield out[f"{device.output}tdata"], out.get(f"{device.output}tlast", 0)
            taken = offered and out[f"{device.source}tready"]
            if after == self.registers and takes and not taken and not out[f"{device.output}tvalid"]:
                self.error = out.get(device.error or "", self.model.state["error"])
                return
            offered = 0 if taken else offered
            self.registers = after
            self.trace.append(after)
        raise HangError(f"{device.name}: not at rest {LONGEST} cycles after the word {word:#x}")

    @property
    def control(self) -> Control:
        return tuple(self.model.state[name] for name in self.device.control)

    def sample(self) -> Sample:
        kept = {name: value for name, value in self.model.state.items() if isinstance(value, int)}
        return Sample(dict(self.registers), kept, tuple(self.words))


def words(device: Device, model: Simulator, source: random.Random, *, faults: float = 0.03) -> int:
    """A word that the model may take next: mostly one that a driver would send."""
    settings = () if model.state["error"] else device.settings.get(model.state["step"], ())
    literals = [op.literal for op in device.spec.opcodes.values() if op.literal is not None]
    if bits := [device.spec.opcodes[name].literal or 0 for name in device.spec.bits]:
        literals += [sum(bit for bit in bits if source.random() < 0.5) for _ in literals]
    for _ in range(50):
        word = source.choice((source.getrandbits(32), source.getrandbits(31), 0xFFFFFFFF, 0x80000000))
        if settings:
            if device.limited or source.random() >= faults:
                word = source.choice(settings)
        elif model.state["step"] == 0 and literals and source.random() >= faults:
            word = source.choice(literals)
        if model.state["error"] or (device.error is not None and source.random() < faults):
            return word
        tried = another(model)
        tried.command(word=word)
        if tried.state["error"]:
            continue
        if not device.settings or source.random() < faults or _goes_on(device, tried):
            return word
    return word


def _goes_on(device: Device, model: Simulator) -> bool:
    """Some word of sizes leads to no error, if sizes are what it waits for."""
    settings = device.settings.get(model.state["step"], ())
    for word in settings:
        tried = another(model)
        tried.command(word=word)
        if tried.state["error"] == 0:
            return True
    return not settings


def run(device: Device, step: Any, model: Simulator, walks: int, length: int, seed: int = 1) -> Samples:
    """Samples of `walks` random streams of `length` words. Some are walked twice, with other data."""
    samples = Samples()
    for walk in range(walks):
        source, other = random.Random(f"{seed} {walk}"), random.Random(f"other {seed} {walk}")
        first, second = (Trial(device, step, random.Random(f"{seed} {walk}"), model) for _ in range(2))
        samples.at[first.control].append(first.sample())
        stays, starts = walk % 4 == 0, [dict(first.registers)]
        for _ in range(length):
            word = words(device, first.model, source)
            try:
                got, expected = first.word(word)
            except HangError:
                break  # the proof will find it, too
            starts.append(dict(first.registers))
            told = device.error is None or first.error == first.model.state["error"]
            if not samples.differs and (got != expected or not told):
                samples.differs = tuple(first.words)
            samples.at[first.control].append(first.sample())
            if stays:
                is_data = first.fired and first.fired[0].endswith((".more", ".last"))
                with suppress(HangError):
                    second.word(other.getrandbits(32) if is_data else word)
                stays = len(first.trace) == len(second.trace) and first.control == second.control
                samples.data |= _differing(first.trace, second.trace) if stays else set()
            if first.model.state["error"]:
                break
        samples.walks.append([(start, tuple(first.words[i:])) for i, start in enumerate(starts)])
    return samples


def _differing(one: Iterable[Mapping[str, int]], other: Iterable[Mapping[str, int]]) -> set[str]:
    return {
        name
        for a, b in zip(one, other, strict=True)
        if a != b
        for name, value in a.items()
        if value != b[name]
    }
