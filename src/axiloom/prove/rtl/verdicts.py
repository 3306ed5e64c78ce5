"""Outcomes of a refinement as rows of a table, kept by the content of the question."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from axiloom.boards.synthesis import yosys
from axiloom.cosim.build.cache import cached_build, content_hash
from axiloom.prove.rtl.device import Device
from axiloom.prove.rtl.refine import Fault, Outcome, Refiner
from axiloom.prove.verdict import Answer, Verdict

HERE = Path(__file__).parent


def prove(
    device: Device, limit_s: int, tick: Callable[[], None] = lambda: None, *, stop: bool = False
) -> tuple[list[Verdict], Fault | None]:
    """The verdicts on all claims, and a fault if one was found: those of before, if nothing has changed.

    `stop`: at the first fault.
    """
    fault: list[Fault | None] = [None]
    fresh: list[Verdict] = []

    def build(place: Path) -> None:
        refiner = Refiner(device, limit_s, tick)
        for outcome in refiner.prove(stop=stop):
            fresh.append(row(device, outcome))
            fault[0] = fault[0] or outcome.fault
        facts = [one.__dict__ for one in fresh]
        (place / "verdicts.json").write_text(json.dumps(facts), encoding="utf-8")

    kept = cached_build("prove-rtl", _key(device), build) / "verdicts.json"
    if fresh:
        if not all(one.good for one in fresh):  # a fault is looked for again, as its run is wanted
            shutil.rmtree(kept.parent, ignore_errors=True)
        return fresh, fault[0]
    facts = json.loads(kept.read_text(encoding="utf-8"))
    return [Verdict(**one | {"answer": Answer(one["answer"]), "cached": True}) for one in facts], None


def _key(device: Device) -> str:
    """All that the answer hangs on: the Verilog, the model, this code and the tools."""
    from axiloom.isa import dumps

    code = [path.read_text(encoding="utf-8") for path in sorted(HERE.glob("*.py"))]
    formal = sorted((HERE.parent.parent / "isa" / "formal").glob("*.py"))
    code += [path.read_text(encoding="utf-8") for path in formal]
    tools = [yosys.version(), version("z3-solver"), version("bitwuzla")]
    return content_hash(
        "rtl", *(text for one in device.sources for text in one), dumps(device.spec), device.map_text, *code, *tools
    )


def row(device: Device, outcome: Outcome) -> Verdict:
    """A line of the table."""
    answer = {None: Answer.OPEN, True: Answer.HOLDS, False: Answer.VIOLATED}[outcome.holds]
    if outcome.never:
        return Verdict(
            device.name, "", outcome.name, outcome.text, "", Answer.NEVER, None, "z3", 0.0, needed=False
        )
    text = outcome.text
    if steps := sorted(one.removeprefix(f"{device.model.name}.") for one in outcome.done if one.count(".") > 1):
        text += f" ({', '.join(steps)})"
    if outcome.why:
        text += f"; {outcome.why}"
    text += f"; {outcome.cases} cases, {outcome.states} states"
    bound = outcome.bound if outcome.holds else None
    if outcome.fault is not None:
        bound = len(outcome.fault.path)
    return Verdict(device.name, "", outcome.name, text, "", answer, bound, outcome.solver, round(outcome.seconds, 2))
