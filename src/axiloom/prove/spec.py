"""``axiloom prove spec``: a specification's formal model is sound, and is what the functional model does."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from axiloom.isa import AcceleratorSpec
from axiloom.isa.formal import sound
from axiloom.isa.formal.ila import Ila
from axiloom.isa.formal.simulate import Simulator
from axiloom.isa.formal.streams import model_of
from axiloom.isa.model.model import FunctionalModel
from axiloom.prove import solvers
from axiloom.prove.verdict import Answer, Verdict

WORDS = 4000
"""That both models take, in streams of `STREAM`."""
STREAM = 400


def prove(spec: AcceleratorSpec, limit_s: int) -> Iterator[Verdict]:
    """The verdicts on all claims, as they come. Raises SpecError for what has no formal model."""
    model = model_of(spec)
    claims = sound.claims(model)
    for claim, said in zip(claims, solvers.decide([one.formula for one in claims], limit_s), strict=True):
        answer = {None: Answer.OPEN, True: Answer.HOLDS, False: Answer.VIOLATED}[said.holds]
        text = claim.text
        if said.values:
            text += f"; not so with {', '.join(f'{k} = {v}' for k, v in sorted(said.values.items()))}"
        yield Verdict(spec.name, "", claim.name, text, "", answer, None, said.solver, said.seconds)
    yield compared(spec, model)


def compared(spec: AcceleratorSpec, model: Ila, words: int = WORDS, seed: int = 1) -> Verdict:
    """The simulator made of the terms beside the functional model, on random words: a test, with a bound."""
    begun, source = time.perf_counter(), random.Random(seed)
    name, text = "simulator: functional model", "both send the same words, and stop in the same error"
    literals = [op.literal for op in spec.opcodes.values() if op.literal is not None]
    for stream in range(words // STREAM):
        terms, functional = Simulator(model), FunctionalModel(spec)
        for number in range(STREAM):
            word = source.getrandbits(32)
            if terms.state["place"] == 0 and literals and source.random() < 0.98:
                word = source.choice(literals)
            elif source.random() < 0.3:
                word = _sizes(spec, source)
            before = terms.state["n_sent"]
            if terms.state["error"] == 0:
                terms.command(word=word)
            sent = [terms.state["sent"][at] for at in range(before, terms.state["n_sent"])]
            if sent != functional.feed([word]).tolist() or terms.state["error"] != int(functional.code):
                why = f"{text}; not so at word {number} of stream {stream} (seed {seed}), {word:#x}"
                return Verdict(spec.name, "", name, why, "", Answer.VIOLATED, number, "simulation", 0.0)
    seconds = time.perf_counter() - begun
    return Verdict(spec.name, "", name, text, "", Answer.HOLDS, words, "simulation", seconds)


def _sizes(spec: AcceleratorSpec, source: random.Random) -> int:
    """A word that may be sizes: small multiples of the granules."""
    granules = spec.tile.granule or spec.tile.size
    sizes = [granule * source.randint(1, 2) for granule in granules]
    return source.choice([*sizes, sizes[0] | sizes[1] << 10 | sizes[2] << 20])
