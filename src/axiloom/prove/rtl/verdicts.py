"""Outcomes of a refinement as rows of a table, kept by the content of the question."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from axiloom.base.cache import content_hash
from axiloom.boards.synthesis import yosys
from axiloom.prove.rtl import replay
from axiloom.prove.rtl.maps.device import Device
from axiloom.prove.rtl.opcodes import overlap
from axiloom.prove.rtl.opcodes.claim import Outcome
from axiloom.prove.rtl.refine import Refiner
from axiloom.prove.spec import kept_verdicts
from axiloom.prove.verdict import Answer, Verdict, as_json
from axiloom.report.proved import sources

ANY_SIZES = ("product", "reset", "trial")
"""Claims that say nothing of sizes."""


def prove(
    device: Device,
    limit_s: int,
    tick: Callable[[], None] = lambda: None,
    *,
    folder: Path | None = None,
    say: Callable[[str], None] = print,
) -> list[Verdict]:
    """The verdicts on all claims: those of before, if nothing has changed.

    Of the first claim that fails, a run goes to `folder`, and nothing more is looked at.
    """

    def ask() -> list[dict[str, Any]]:
        refiner = Refiner(device, limit_s, tick)
        verdicts = []
        for outcome in refiner.prove(stop=True):
            verdict = row(device, outcome)
            if outcome.fault is not None:
                verdict = _shown(refiner, outcome, verdict, folder, say)
            verdicts.append(verdict)
        return as_json(verdicts)

    # A fault is looked for again, as its run is wanted.
    return kept_verdicts(_key(device), ask, lambda verdicts: all(row["good"] for row in verdicts))


def _shown(
    refiner: Refiner, outcome: Outcome, verdict: Verdict, folder: Path | None, say: Callable[[str], None]
) -> Verdict:
    """The verdict with a run that shows the fault; not decided, if there is none from reset."""
    assert outcome.fault is not None
    run = replay.find(refiner, outcome.fault)
    device = refiner.device
    if run is None:
        say(f"{device.name}: {outcome.name}: {outcome.why}; no run from reset was found that shows it")
        return replace(verdict, answer=Answer.OPEN, bound=None)
    say(f"{device.name}: {outcome.name}: {outcome.why}; {run.text}")
    if folder is None:
        return verdict
    place = folder / re.sub(r"\W+", "_", f"{device.name}_{outcome.name}")
    if not replay.write(place, device, run, f"{device.name}: {outcome.name}: {outcome.why}"):
        say("  the simulator does not show it")
    return verdict.with_replay(str(place))


def _key(device: Device) -> str:
    """All that the answer hangs on: the Verilog, the model, this code and the tools."""
    from axiloom.isa import dumps

    return content_hash(
        "rtl",
        *(text for source in device.sources for text in source),
        dumps(device.spec),
        device.map_text,
        yosys.version(),
        sources(),
        overlap.MOST_WORDS,
    )


def row(device: Device, outcome: Outcome) -> Verdict:
    """A line of the table."""
    answer = {None: Answer.OPEN, True: Answer.HOLDS, False: Answer.VIOLATED}[outcome.holds]
    if outcome.never:
        return Verdict(
            device.name, "", outcome.name, outcome.text, "", Answer.NEVER, None, "z3", 0.0, needed=False,
            certified=outcome.certified,
        )  # fmt: skip
    text = outcome.text
    if steps := sorted(
        one.removeprefix(f"{device.model.name}.") for one in outcome.done if one.count(".") > 1
    ):
        text += f" ({', '.join(steps)})"
    if outcome.why:
        text += f"; {outcome.why}"
    bound = outcome.bound if outcome.holds else None
    unit = "words"
    if device.limited and outcome.holds and bound is None and outcome.name not in ANY_SIZES:
        bound, unit = device.shapes, "sizes"
    if outcome.words and outcome.holds:
        bound, unit = len(outcome.words), "words"
        text += f", of the words {', '.join(f'{word:#x}' for word in sorted(outcome.words))}"
    text += f"; {outcome.cases} cases, {outcome.states} states"
    if outcome.fault is not None and outcome.fault.path:
        bound = len(outcome.fault.path)
    seconds = round(outcome.seconds, 2)
    verdict = Verdict(device.name, "", outcome.name, text, "", answer, bound, outcome.solver, seconds)
    certified = outcome.certified if bound is None else ""
    return replace(verdict, unit="cycles" if outcome.fault else unit, certified=certified)


def sizes(device: Device) -> str:
    """What the claims are about, in words: tile, buffers, and what is not computed."""
    spec = device.spec
    tile = "x".join(map(str, spec.tile.size))
    buffers = ", ".join(f"{operand} {words}" for operand, words in spec.buffers.items())
    kind = "tiles of" if not device.sizes else "tiles up to its buffers, first"
    return f"{kind} {tile}, buffers of {buffers} words, products uninterpreted"
