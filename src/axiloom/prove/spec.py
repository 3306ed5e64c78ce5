"""``axiloom prove spec``: a specification's formal model is sound, and is what the functional model does."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import Any

import z3

from axiloom.base.cache import remembered
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.contract.types import SendDim
from axiloom.isa.formal import sound, tiles
from axiloom.isa.formal.beats import Beats, Wait, model_of
from axiloom.isa.formal.ila import Ila
from axiloom.isa.formal.simulate import Simulator
from axiloom.isa.opcode_map.model import FunctionalModel
from axiloom.prove import solvers
from axiloom.prove.verdict import DERIVED, Answer, Say, Verdict, as_json
from axiloom.report import proved

LIMIT_S = 60
SIMULATION = "simulation"
WORDS = 4000
"""That both models take at least, in at least so many streams."""
STREAMS = 60
STREAM = 400
"""Words of a stream that no error ends; more where tiles are larger, fewer where it is a wild one."""


def prove(
    spec: AcceleratorSpec, limit_s: int = LIMIT_S, say: Say = lambda _verdict, _total: None
) -> list[Verdict]:
    """The verdicts on all claims; from the cache, if all of them were decided before.

    `say` is told of each as it comes, with their number. Raises SpecError for what has no formal model.
    """

    def ask() -> list[dict[str, Any]]:
        beats = model_of(spec)
        return answers(spec.name, claims(beats), lambda: compared(beats), limit_s, say)

    return kept_verdicts(proved.key(spec), ask)


def claims(beats: Beats) -> list[sound.Claim]:
    """All that is to be proved of a model."""
    return [*covers(beats.ila), *sound.claims(beats.ila), *beats.sends(), *tiles.claims(beats.opcodes)]


def covers(model: Ila) -> Iterator[sound.Claim]:
    """Each word that a stream may have can come: else what is claimed of it says nothing.

    A refusal need not come: of sizes that an earlier word has set, all are legal.
    """
    holds = z3.And(*model.invariants.values())
    for instruction in model.instructions:
        text = f"{instruction.name} can come"
        never = z3.Not(z3.And(holds, model.valid, instruction.decode))
        refuses = "error" in instruction.updates
        yield sound.Claim(
            f"{instruction.path}: it comes", text, never, "covers", cover=True, needed=not refuses
        )


def answers(
    name: str,
    claims: Sequence[sound.Claim],
    test: Callable[[], Verdict],
    limit_s: int,
    say: Say,
) -> list[dict[str, Any]]:
    """The verdicts on claims about `name`, then that of the test, as JSON has them."""
    verdicts = []
    for one in decided(name, claims, limit_s):
        say(one, len(claims) + 1)
        verdicts.append(one)
    verdicts.append(test())
    say(verdicts[-1], len(claims) + 1)
    return as_json(verdicts)


def is_decided(verdicts: list[dict[str, Any]]) -> bool:
    return all(row["answer"] != Answer.OPEN for row in verdicts)


def kept_verdicts(
    key: str,
    ask: Callable[[], list[dict[str, Any]]],
    good: Callable[[list[dict[str, Any]]], bool] = is_decided,
) -> list[Verdict]:
    """The verdicts that `ask` gives, or gave before to the question of this content if they were `good`."""
    found, cached = remembered(proved.KIND, key, ask, good)
    return [
        Verdict(
            **{name: one[name] for name in one if name not in DERIVED}
            | {"answer": Answer(one["answer"]), "cached": cached}
        )
        for one in found
    ]


def decided(name: str, claims: Sequence[sound.Claim], limit_s: int) -> Iterator[Verdict]:
    """The verdicts on claims about what is called `name`, as they come."""
    for claim, said in zip(claims, solvers.decide([one.formula for one in claims], limit_s), strict=True):
        yield verdict(name, claim, said)


def verdict(name: str, claim: sound.Claim, said: solvers.Said) -> Verdict:
    """What a solver said of a claim; of a cover (:class:`~axiloom.isa.formal.sound.Cover`) it was asked
    whether it never happens."""
    if claim.cover:
        answer = {None: Answer.OPEN, True: Answer.NEVER, False: Answer.SEEN}[said.holds]
        return Verdict(
            name, "", claim.name, claim.text, claim.kind, answer, None, said.solver, said.seconds,
            needed=claim.needed, certified=said.certified,
        )  # fmt: skip
    answer = {None: Answer.OPEN, True: Answer.HOLDS, False: Answer.VIOLATED}[said.holds]
    text = claim.text
    # What whole memories are, a solver says in its own way, at length.
    if values := [f"{k} = {v}" for k, v in sorted(said.values.items()) if v.lstrip("-").isdecimal()]:
        text += f"; not so with {', '.join(values)}"
    return Verdict(
        name,
        "",
        claim.name,
        text,
        claim.kind,
        answer,
        None,
        said.solver,
        said.seconds,
        certified=said.certified,
    )


def compared(beats: Beats, words: int = WORDS, seed: int = 1, streams: int = STREAMS) -> Verdict:
    """The simulator made of the terms beside the functional model, on random words: a test, with a bound."""
    begun, source = time.perf_counter(), random.Random(seed)
    name, text = "simulator: functional model", "both send the same words, and stop in the same error"
    spec, terms, ran = beats.spec, Simulator(beats.ila), set[str]()
    taken = stream = 0
    longest = max(STREAM, 3 * sum(spec.operand_words(o, spec.tile.granule) for o in spec.form.inputs))
    while taken < words or stream < streams:
        terms.reset()
        functional = FunctionalModel(spec)
        wild = stream % 4 > 0
        given, stream = Stimulus(beats, source, wild), stream + 1
        number = 0
        while number < (longest // 4 if wild else longest) and functional.code is DeviceError.OK:
            beat = given.beat(terms.state["step"])
            before = terms.state["n_sent"]
            ran.update(terms.command(word=sum(word << 32 * i for i, word in enumerate(beat))))
            sent = [
                (terms.state["sent"][at], terms.state["last"][at])
                for at in range(before, terms.state["n_sent"])
            ]
            wanted = functional.feed(beat).tolist()
            if sent != list(zip(wanted, functional.tlast.tolist(), strict=True)) or (
                terms.state["error"] != int(functional.code)
            ):
                shown = " ".join(f"{word:#x}" for word in beat)
                why = f"{text}; not so at word {number} of stream {stream} (seed {seed}), {shown}"
                return Verdict(
                    spec.name, "", name, why, SIMULATION, Answer.VIOLATED, taken, "simulation", 0.0
                )
            number += len(beat)
            taken += len(beat)
    seconds = time.perf_counter() - begun
    many = len([*beats.ila.everything()])
    text += f"; {taken} words in {stream} streams, {len(ran)} of {many} instructions ran"
    return Verdict(
        spec.name, "", name, text, SIMULATION, Answer.HOLDS, taken, "simulation", seconds, unit="words"
    )


class Stimulus:
    """Random words of one stream: mostly what a host would send, in small sizes that mostly stay the same.

    A `wild` one changes its mind more often: it soon ends in an error, one of many.
    """

    def __init__(self, beats: Beats, source: random.Random, wild: bool = False) -> None:
        self.spec, self.source, self.beats = beats.spec, source, beats
        self.changes, self.odd, self.jumps = (0.2, 0.04, 0.3) if wild else (0.03, 0.002, 0.1)
        spec, self.literals = beats.spec, beats.opcodes.framing.opcodes
        flow = [name for name, _ in spec.flows[spec.selected_flow].opcodes()]
        self.flow = cycle([*spec.init_opcodes, *flow, *flow])
        granules = dict(zip(spec.dims, spec.tile.granule or spec.tile.size, strict=True))
        self.granule = {name: granules.get(name, 1) for name in spec.sizes()}
        self.usual = {name: self._size(name) for name in spec.sizes()}

    def beat(self, step: int) -> list[int]:
        """The next one, for a device at this step."""
        words: list[int] = []
        waits = self.beats.from_wait(step)
        if not step:
            words.append(self._opcode())
            waits = self.beats.from_word(words[0])
        for wait in waits:
            if wait.memory or len(words) == self.spec.link.beat_words:
                break
            words.append(self._single(wait))
        return words + [self.source.getrandbits(32) for _ in range(self.spec.link.beat_words - len(words))]

    def _opcode(self) -> int:
        chance = self.source.random()
        if chance < 0.01:
            return self.source.getrandbits(32)
        bits = self.beats.opcodes.framing.bits
        if chance < 0.1 and bits:
            return sum(self.source.sample(bits, self.source.randint(1, len(bits))))
        if chance < 0.1 + self.jumps:
            return self.source.choice([*self.literals]) or 0
        return self.spec.opcodes[next(self.flow)].literal or 0

    def _single(self, wait: Wait) -> int:
        host = self.beats.host(wait)
        if not isinstance(host, SendDim):
            return self.source.getrandbits(32)
        word = 0
        for field in host.fields:
            chance, most = self.source.random(), (1 << host.field_bits(field)) - 1
            value = self._size(field.dim) if chance < self.changes else self.usual[field.dim]
            if chance > 1 - self.odd:
                value = self.source.choice([0, most])
            word |= (value & most) << field.shift
        return word

    def _size(self, name: str) -> int:
        """Small: what is larger takes the words of a whole stream."""
        if name in ("zp", "lo", "hi"):
            return self.source.getrandbits(8)
        if name in ("pt", "pl"):
            return self.source.randint(0, 2)
        if name in self.spec.form.unit:
            return 1
        return self.granule[name] * self.source.randint(1, 6 if name in ("ih", "iw") else 3)
