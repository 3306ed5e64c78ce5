"""From a claim that fails to a run from reset that shows it, and from the run to a test.

A claim fails in a state at rest that is drawn from an invariant. Streams of words that were seen to lead
there are gone through again, with other data; the word at fault follows, and then whatever a driver may
send, until something comes out that the model does not send.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import z3

from axiloom import isa
from axiloom.base.files import make_folder, write_whole
from axiloom.cosim.bench import run_cocotb
from axiloom.prove.rtl.maps.device import Device
from axiloom.prove.rtl.opcodes import trial
from axiloom.prove.rtl.opcodes.claim import Fault
from axiloom.prove.rtl.refine import Refiner

TRIES, MORE = 400, 120
SPEC, STIMULUS, TEST, WAVES = "spec.json", "stimulus.json", "test_replay.py", "waves.vcd"

_TEST = '''"""{text}.

Found by `axiloom prove rtl`. `pytest {file}` runs it: it fails while the RTL does not do what the model does.
"""

import json
from pathlib import Path

import cocotb
from cocotb.triggers import Timer

from axiloom import isa
from axiloom.isa.opcode_map.model import FunctionalModel

HERE = Path(__file__).parent
SOURCES = {sources}


@cocotb.test()
async def does_what_the_model_does(dut):
    spec = isa.load(HERE / "{spec}", None)
    stimulus = json.loads((HERE / "{stimulus}").read_text())
    words, ready = stimulus["words"], stimulus["ready"]
    model = FunctionalModel(spec)
    expected = [int(word) for word in model.feed([word for _, word in words])]
    sent, lasts, at, began = [], [], 0, False
    clock, reset = dut.{clock}, dut.{reset}
    dut.{source}tvalid.value = 0
    dut.{source}tdata.value = 0
    dut.{output}tready.value = 0{tied}
    reset.value = {in_reset}
    for cycle in range(-4, len(ready) + {longer}):
        reset.value = {in_reset} if cycle < 0 else 1 - {in_reset}
        began = began or (at < len(words) and cycle >= words[at][0])
        dut.{source}tvalid.value = int(began and at < len(words))
        dut.{source}tdata.value = words[at][1] if at < len(words) else 0
        dut.{output}tready.value = ready[cycle] if 0 <= cycle < len(ready) else int(cycle >= 0)
        await Timer(5, "ns")
        if cycle >= 0 and dut.{output}tvalid.value and dut.{output}tready.value:
            sent.append(int(dut.{output}tdata.value))
            lasts.append(int(dut.{output}tlast.value))
        if cycle >= 0 and dut.{source}tvalid.value and dut.{source}tready.value:
            at, began = at + 1, False
        clock.value = 1
        await Timer(5, "ns")
        clock.value = 0
    assert sent == expected, f"sent {{sent[:40]}}, the model sends {{expected[:40]}}"
    assert lasts == stimulus["lasts"], f"TLAST {{lasts}}, the model's are {{stimulus['lasts']}}"
    {error}


def test_replay():
    from axiloom.cosim.bench import run_cocotb

    run_cocotb([HERE / name for name in SOURCES], Path(__file__), top="{top}")
'''


@dataclass(frozen=True)
class Run:
    """`words`, each with the cycle from which on it is offered; `ready` by cycle; the model's `lasts`."""

    words: tuple[tuple[int, int], ...]
    ready: tuple[int, ...]
    lasts: tuple[int, ...]
    text: str


def find(refiner: Refiner, fault: Fault, seed: int = 1) -> Run | None:
    """A run from reset in which machine and model differ; None: none was found."""
    device, control = refiner.device, fault.case.control
    prefixes = [one.words for one in refiner.samples.at[control] if one.words]
    prefixes = [fault.words] if fault.words else prefixes
    prefixes += [()] if not any(control[1:3]) else []
    word = z3.simplify(
        z3.substitute(fault.case.word, (refiner.word, z3.BitVecVal(fault.values.get("word", 0), 32)))
    )
    known = [(z3.BitVec(name, 32), z3.BitVecVal(value, 32)) for name, value in fault.values.items()]
    word = z3.simplify(z3.substitute(word, *known))
    given = word.as_long() if z3.is_bv_value(word) else 0
    for number in range(TRIES):
        source = random.Random(f"{seed} {number}")
        prefix = source.choice(prefixes) if prefixes else ()
        if (run := _differs(refiner, device, prefix, given, fault, source)) is not None:
            return run
    return None


def _differs(
    refiner: Refiner, device: Device, prefix: tuple[int, ...], given: int, fault: Fault, source: random.Random
) -> Run | None:
    run = trial.Trial(device, refiner.simulate, None, refiner.simulator)  # as simulators begin
    starts: list[tuple[int, int]] = []
    lasts: list[int] = []
    ready = [choice[1] for choice in fault.path]
    hurried = source.random() < 0.5

    def stalls(cycle: int) -> int:
        return ready[cycle] if cycle < len(ready) else int(hurried or source.random() < 0.7 or cycle > 400)

    behind: Callable[[int], int]
    for number in range(len(prefix) + 1 + MORE):
        if number < len(prefix):
            word = prefix[number]
            place = run.model.state["step"]
            is_data = place and place not in device.settings
            if is_data and number and source.random() < 0.7:
                word = source.choice((source.getrandbits(32), source.getrandbits(31)))
            behind = _always
        elif number == len(prefix) and fault.case.instruction is not None:
            word, behind = given, stalls
        else:
            if run.model.state["error"]:
                word = source.getrandbits(32)
            else:
                word = trial.words(device, run.model, source)
            behind = stalls if number % 3 else _always
        starts.append((len(run.cycles), word))
        try:
            got, expected = run.word(word, behind)
        except trial.HangError:
            got, expected = [], [(0, 0)]
        lasts += [last for _, last in expected]
        if got != expected or (device.error and run.error != run.model.state["error"]):
            text = f"word {number} ({word:#x}): the RTL sends {len(got)} words"
            first = next((i for i, (a, b) in enumerate(zip(got, expected, strict=False)) if a != b), len(got))
            if first < min(len(got), len(expected)):
                (data, last), (should, should_last) = got[first], expected[first]
                text = f"word {number} ({word:#x}): the RTL answers {data:#x}, TLAST {last}, in place {first}"
                text += f"; the model {should:#x}, TLAST {should_last}"
            elif len(got) != len(expected):
                text += f", the model {len(expected)}"
            else:
                text = f"word {number} ({word:#x}): the RTL tells error {run.error}, the model "
                text += f"{run.model.state['error']}"
            cycles = run.cycles[: starts[-1][0] + trial.LONGEST]
            return Run(tuple(starts), tuple(one[2] for one in cycles), tuple(lasts), text)
        if run.model.state["error"] and number > len(prefix) + 3:
            return None
    return None


def _always(_cycle: int) -> int:
    return 1


def write(folder: Path, device: Device, run: Run, text: str) -> bool:
    """Write the run to `folder`, with its waveform. True: the simulator shows it on the Verilog too."""
    make_folder(folder)
    for name, source in device.sources:
        write_whole(folder / name, source)
    write_whole(folder / SPEC, isa.dumps(device.spec))
    stimulus = {"words": run.words, "ready": run.ready, "lasts": run.lasts}
    write_whole(folder / STIMULUS, json.dumps(stimulus) + "\n")
    ties = [end for end in ("tlast", "tkeep", "tstrb") if device.has_input(device.source + end)]
    error = "pass"
    if device.error:
        error = f'assert int(dut.{device.error}.value) == int(model.code), "another error than the model\'s"'
    made = _TEST.format(
        text=f"{text}; {run.text}".replace('"', "'"),
        file=f"{folder.name}/{TEST}",
        sources=[name for name, _ in device.sources],
        spec=SPEC,
        stimulus=STIMULUS,
        clock=device.clock,
        reset=device.reset,
        in_reset=int(not device.reset_active_low),
        source=device.source,
        output=device.output,
        tied="".join(f"\n    dut.{device.source}{end}.value = {int(end != 'tlast') * 15}" for end in ties),
        longer=min(trial.LONGEST, 500),
        top=device.machine.top,
        error=error,
    )
    write_whole(folder / TEST, made)
    return not passes(folder, device)


def passes(folder: Path, device: Device) -> bool:
    """Does the test in `folder` pass on the Verilog that is there?"""
    sources = [folder / name for name, _ in device.sources]
    with contextlib.redirect_stdout(io.StringIO()):  # what cocotb says of a test that fails is no news here
        try:
            run_cocotb(
                sources,
                folder / TEST,
                top=device.machine.top,
                trace=folder / WAVES,
                internals=True,
                timeout_s=120,
            )
        except AssertionError:
            return False
    return True
