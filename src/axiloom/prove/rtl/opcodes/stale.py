"""Registers whose values no later word looks at: what the words before have left in them may be anything.

An engine at rest keeps counters and sizes of the tile that it was busy with last, in registers that are
written anew before they are read. Which ones, is a guess from runs on integers: with other values in them the
device does the same. The proof then begins with any values in them; where one of them turns out to matter, it
is taken out of the guess, and the proof begins again.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from axiloom.prove.rtl.maps.device import Device
from axiloom.prove.rtl.opcodes.trial import Samples, Start
from axiloom.prove.rtl.terms.machine import part_names

AHEAD, TESTS, QUIET = 4, 400, 60
LONGEST = 400


Bit = tuple[str, int]
"""A register, and a place in it."""


def stale(
    device: Device,
    step: Any,
    walks: Sequence[Sequence[Start]],
    among: Collection[str],
    kept: Collection[str],
    seed: int = 1,
) -> set[Bit]:
    """Of the bits of the registers `among`, those that may be anything in the starts of `walks`: what the
    ports say is then the same, and in the end what the registers `kept` hold."""
    source, quiet = random.Random(seed), 0
    left = [(name, at) for name in sorted(among) for at in range(device.machine.registers[name].size())]
    starts = [start for walk in walks for start in walk if start[1]]
    for _ in range(TESTS):
        if quiet == QUIET or not starts or not left:
            break
        registers, words = source.choice(starts)
        values = {bit: source.getrandbits(1) for bit in left}
        found = _needed(device, step, registers, words[:AHEAD], values, kept)
        quiet = 0 if found else quiet + 1
        left = [bit for bit in left if bit not in found]
    return set(left)


def _needed(
    device: Device,
    step: Any,
    registers: Mapping[str, int],
    words: Sequence[int],
    values: Mapping[Bit, int],
    kept: Collection[str],
) -> set[Bit]:
    """The bits that have to keep what they hold, for the device to do the same with these words."""
    wanted = _trace(device, step, registers, words, None, kept)
    found: set[Bit] = set()
    while True:
        bits = [bit for bit in values if bit not in found]

        def same(count: int, bits: Sequence[Bit] = bits) -> bool:
            changed = dict(registers)
            for name, at in bits[:count]:
                changed[name] = changed[name] & ~(1 << at) | values[name, at] << at
            return _trace(device, step, changed, words, wanted, kept) is wanted

        if same(len(bits)):
            return found
        low, high = 0, len(bits)  # with `low` of them it does the same, with `high` it does not
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if same(middle) else (low, middle)
        found.add(bits[high - 1])


def parted(device: Device, bits: Collection[Bit], samples: Samples) -> tuple[Device, set[str]]:
    """The device with each register in parts that are wholly among `bits`, or not at all, and the names of
    those that are; the samples are changed likewise. Registers with names that say no bits stay whole, and
    then all of their bits must be there."""
    runs: dict[str, list[tuple[int, int]]] = {}
    found: set[str] = set()
    for name in {name for name, _ in bits}:
        size = device.machine.registers[name].size()
        among = [(name, at) in bits for at in range(size)]
        cuts = [0, *(at for at in range(1, size) if among[at] != among[at - 1]), size]
        if len(cuts) == 2:
            found.add(name)
        elif (names := part_names(name, cuts)) is not None:
            runs[name] = [*pairwise(cuts)]
            found |= {own for own, (low, _) in zip(names, runs[name], strict=True) if among[low]}
    registers = [one.registers for some in samples.at.values() for one in some]
    registers += [one for walk in samples.walks for one, _ in walk]
    for values in {id(register): register for register in registers}.values():
        for name, pieces in runs.items():
            value = values.pop(name)
            for own, (low, high) in zip(
                part_names(name, [low for low, _ in pieces] + [pieces[-1][1]]) or (), pieces, strict=True
            ):
                values[own] = value >> low & (1 << high - low) - 1
    return replace(device, machine=device.machine.parted(runs)), found


def _trace(
    device: Device,
    step: Any,
    registers: Mapping[str, int],
    words: Sequence[int],
    wanted: list[tuple[int, ...]] | None,
    kept: Collection[str],
) -> list[tuple[int, ...]]:
    """What the ports say in each cycle, words at once one after the other, and last what registers hold;
    `wanted` itself if that is it."""
    now, at, made = dict(registers), 0, list[tuple[int, ...]]()
    length = len(wanted) - 1 if wanted is not None else LONGEST * len(words)
    for cycle in range(length):
        word = words[at] if at < len(words) else 0
        after, out = step(now, device.inputs(int(at < len(words)), word, int(cycle % 7 != 3)))
        sends = out[f"{device.output}tvalid"]
        shown = [out[f"{device.source}tready"], sends]
        if sends:
            shown += [out[f"{device.output}tdata"], out.get(f"{device.output}tlast", 0)]
        made.append((*shown, out.get(device.error or "", 0)))
        if wanted is not None and made[-1] != wanted[cycle]:
            return made
        if wanted is None and at == len(words) and after == now and not sends:
            break
        at += at < len(words) and out[f"{device.source}tready"]
        now = after
    made.append(tuple(now[name] for name in kept))
    return wanted if wanted is not None and made[-1] == wanted[-1] else made
