"""``axiloom prove mapping``: the commands of a mapping compute its kernel, on any data."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from axiloom.errors import UsageError
from axiloom.isa.formal.mapped import play
from axiloom.isa.instructions import library
from axiloom.isa.instructions.mappings import Mapped
from axiloom.prove import solvers
from axiloom.prove.verdict import Answer, Verdict


def prove(mapped: Mapped, limit_s: int) -> Iterator[Verdict]:
    """The verdicts at the sizes of `mapped`. Raises SpecError where its commands cannot be executed."""
    begun = time.perf_counter()
    played = play(mapped)
    name = mapped.name
    seconds = time.perf_counter() - begun
    sizes = sizes_of(mapped)
    if played.same:
        text = f"{played.same} of {played.elements} elements are the kernel's, as terms"
        yield Verdict(name, sizes, "executed on any data", text, "", Answer.HOLDS, None, "rewriting", seconds)
    formulas = [one.formula for one in played.claims]
    for claim, said in zip(played.claims, solvers.decide(formulas, limit_s), strict=True):
        answer = {None: Answer.OPEN, True: Answer.HOLDS, False: Answer.VIOLATED}[said.holds]
        text = claim.text
        if said.values:
            text += f"; not so with {', '.join(f'{k} = {v}' for k, v in sorted(said.values.items()))}"
        yield Verdict(name, sizes, claim.name, text, "", answer, None, said.solver, said.seconds)


def sizes_of(mapped: Mapped) -> str:
    """``T=16 NV=4``."""
    return " ".join(f"{name}={value}" for name, value in mapped.chosen.items())


def read(name: str, sizes: Mapping[str, int]) -> Mapped:
    """The mapping of a file, or a built-in one. Raises UsageError and SpecError."""
    path = Path(name)
    if path.suffix == library.MAPPING:
        return library.mapping(path, sizes)
    if name not in library.mappings():
        raise UsageError(
            f"prove mapping: no mapping `{name}`; a file ends in {library.MAPPING}, built in are "
            f"{', '.join(library.mappings())}"
        )
    return library.mapping(library.mappings()[name], sizes)
