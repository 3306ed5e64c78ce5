# amaranth: UnusedElaboratable=no
"""Words become loads and commands, in the order of the stream, up to the first word that is an error."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.hw.component_bench import simulate

from axiloom import isa
from axiloom.hw.engine.commands import CommandKind
from axiloom.hw.engine.decoder import Programs
from axiloom.hw.engine.receiver import Receiver
from axiloom.hw.matmul.geometry import Geometry
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.errors import DeviceError

ACTIONS = {"sA": "A", "sB": "B", "cC": CommandKind.COMPUTE, "rC": CommandKind.STORE}


@dataclass
class Bench:
    """Buffers, sequencer and check of sizes around a receiver, each as slow as it likes.

    `sizes`: what an operand's tile has in words, from the dims that the receiver shows. `events`: in order,
    what was loaded (operand and words) and what was queued (kind, and the halves that its operands are in).
    """

    device: Receiver
    words: list[int]
    rng: random.Random
    sound: Any = lambda dims: True
    sizes: Any = None
    events: list[Any] = field(default_factory=list)
    taken: int = 0
    claims: int = 0

    async def main(self, ctx: Any) -> None:
        device, rng = self.device, self.rng
        halves = dict.fromkeys("AB", 0)
        loading: dict[str, list[int]] = {"A": [], "B": []}
        settle, quiet, offered = 0, 0, False
        while quiet < 20:
            offered = self.taken < len(self.words) and (offered or rng.random() < 0.8)
            ctx.set(device.words.valid, offered)
            ctx.set(device.words.payload, self.words[self.taken] if offered else rng.getrandbits(32))
            ctx.set(device.commands.ready, rng.random() < 0.6)
            dims = {name: ctx.get(device.dims[name]) for name in device.protocol.dims}
            ctx.set(device.dims_settled, settle == 0 and not ctx.get(device.dims_set))
            ctx.set(device.dims_sound, self.sound(dims))
            ctx.set(device.dims_fit, dict.fromkeys("ABC", 1))
            for name in "AB":
                load = device.load(name)
                ctx.set(load.ready, rng.random() < 0.7)
                ctx.set(load.last, len(loading[name]) == self.sizes(name, dims) - 1)
                ctx.set(load.half, halves[name])
            assert sum(ctx.get(device.load(name).valid) for name in "AB") <= 1
            for name in "AB":
                load = device.load(name)
                if ctx.get(load.valid) and ctx.get(load.ready):
                    assert offered
                    loading[name].append(ctx.get(device.load_data))
                    if ctx.get(load.last):
                        self.events.append((name, tuple(loading[name])))
                        loading[name] = []
                        halves[name] ^= 1
            commands = device.commands
            if ctx.get(commands.valid) and ctx.get(commands.ready):
                of = tuple(ctx.get(commands.payload[f"half_{name}"]) for name in "ab")
                self.events.append((CommandKind(ctx.get(commands.payload.kind)), of))
                assert ctx.get(device.claim) == (self.events[-1][0] == CommandKind.COMPUTE)
            else:
                assert not ctx.get(device.claim)
            self.claims += ctx.get(device.claim)
            settle = rng.randrange(4) if ctx.get(device.dims_set) else max(0, settle - 1)
            moves = offered and ctx.get(device.words.ready)
            if moves:
                self.taken += 1
                offered = False
            stopped = bool(ctx.get(device.error))
            quiet = 0 if moves or (ctx.get(device.busy) and not stopped) else quiet + 1
            await ctx.tick()

    def run(self) -> int:
        errors: list[int] = []

        async def bench(ctx: Any) -> None:
            await self.main(ctx)
            errors.append(ctx.get(self.device.error))

        simulate(self.device, bench)
        return errors[0]


def receiver(spec: AcceleratorSpec) -> Receiver:
    return Receiver(Programs(spec), Geometry.of(spec).protocol)


def literal(spec: AcceleratorSpec, name: str) -> int:
    found = spec.opcodes[name].literal
    assert found is not None
    return found


class Expected:
    """The events of a program, by what its opcodes mean."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.halves = dict.fromkeys("AB", 0)

    def load(self, name: str, words: list[int]) -> None:
        self.events.append((name, tuple(words)))
        self.halves[name] ^= 1

    def queue(self, kind: CommandKind) -> None:
        self.events.append((kind, (self.halves["A"], self.halves["B"])))


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(4))
def test_a_program_becomes_loads_and_commands(seed: int) -> None:
    spec, rng = isa.builtin("v3_4"), random.Random(seed)
    expected = Expected()
    words: list[int] = []
    names = ["sA", "sB", "cC", "rC", *(rng.choice(list(ACTIONS)) for _ in range(40))]
    for name in names:
        words.append(literal(spec, name))
        action = ACTIONS[name]
        if isinstance(action, CommandKind):
            expected.queue(action)
            if name == "rC":  # the built-in one begins anew behind it
                expected.queue(CommandKind.CLEAR)
            continue
        tile = [rng.getrandbits(32) for _ in range(spec.operand_words(action))]
        words += tile
        expected.load(action, tile)
    bench = Bench(receiver(spec), words, rng, sizes=lambda name, _: spec.operand_words(name))
    assert bench.run() == 0
    assert bench.events == expected.events
    assert bench.taken == len(words)
    assert bench.claims == names.count("cC")


@pytest.mark.parametrize(
    ("program", "error", "happens"),
    [
        (["rC", "cC", "rC"], DeviceError.NOT_LOADED, 2),
        (["sA", "cC", "sB"], DeviceError.NOT_LOADED, 1),
        (["sB", "?", "sA"], DeviceError.UNKNOWN_OPCODE, 1),
    ],
)
def test_the_first_error_ends_it(program: list[str], error: DeviceError, happens: int) -> None:
    """What was asked for before it happens, nothing behind it does."""
    spec = isa.builtin("v3_4")
    known = {spec.opcodes[name].literal for name in spec.opcodes}
    unknown = next(word for word in range(256) if not any(word & (one or 0) for one in known))
    words: list[int] = []
    for name in program:
        words.append(unknown if name == "?" else literal(spec, name))
        if name in ("sA", "sB"):
            words += [0] * spec.operand_words(name[1])
    bench = Bench(receiver(spec), words, random.Random(1), sizes=lambda name, _: spec.operand_words(name))
    assert bench.run() == error
    assert len(bench.events) == happens
    assert bench.taken < len(words)


def dims_word(m: int, n: int, k: int) -> int:
    return m | n << 10 | k << 20


def flexible(program: list[tuple[str, tuple[int, int, int]]], spec: AcceleratorSpec) -> list[int]:
    """Words of v4: each opcode has the sizes of the tile behind it, then the tile, if it loads one."""
    words: list[int] = []
    for name, (m, n, k) in program:
        words += [literal(spec, name), dims_word(m, n, k), *range({"sA": m * k, "sB": k * n}.get(name, 0))]
    return words


def words_of_tile(name: str, dims: dict[str, int]) -> int:
    return dims["m"] * dims["k"] if name == "A" else dims["k"] * dims["n"]


@pytest.mark.slow
def test_sizes_come_with_an_operand() -> None:
    spec = isa.builtin("v4_16")
    sizes = (16, 32, 48)
    program = [(name, sizes) for name in ("sA", "sB", "cC", "sA", "cC")]
    bench = Bench(receiver(spec), flexible(program, spec), random.Random(2), sizes=words_of_tile)
    assert bench.run() == 0
    kinds = [event[0] for event in bench.events]
    assert kinds == ["A", "B", CommandKind.COMPUTE, "A", CommandKind.COMPUTE]
    assert bench.events[4][1] == (0, 1)


def test_a_compute_of_operands_of_other_sizes_is_an_error() -> None:
    spec = isa.builtin("v4_16")
    program = [("sA", (16, 16, 16)), ("sB", (16, 16, 32)), ("cC", (16, 16, 32))]
    bench = Bench(receiver(spec), flexible(program, spec), random.Random(3), sizes=words_of_tile)
    assert bench.run() == DeviceError.DIMS_MISMATCH
    assert [event[0] for event in bench.events] == ["A", "B"]


def test_sizes_that_are_not_sound_are_an_error_at_their_word() -> None:
    spec = isa.builtin("v4_16")
    words = flexible([("sA", (16, 16, 16)), ("sB", (16, 16, 48))], spec)
    bench = Bench(
        receiver(spec), words, random.Random(4), sizes=words_of_tile, sound=lambda dims: dims["k"] != 48
    )
    assert bench.run() == DeviceError.BAD_DIMS
    assert [event[0] for event in bench.events] == ["A"]
    assert bench.taken == 2 + 256 + 2
