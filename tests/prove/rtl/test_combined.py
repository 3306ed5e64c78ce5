"""An opcode word of several bits, on integers: the receiver's program is what the map says."""

from __future__ import annotations

import random
from copy import copy

import pytest
import z3

from axiloom import isa
from axiloom.isa.formal.beats import model_of
from axiloom.isa.formal.simulate import Simulator
from axiloom.prove.rtl.maps import combined
from axiloom.prove.rtl.maps import ours as maps
from axiloom.prove.rtl.maps.device import Device
from axiloom.prove.rtl.opcodes import trial


@pytest.fixture(scope="module")
def start() -> trial.Trial:
    """Just reset."""
    device = maps.device_of(maps.small(isa.builtin("conv_v3")))
    return trial.Trial(device, device.machine.simulator(), random.Random(1), Simulator(device.model))


@pytest.mark.slow
@pytest.mark.parametrize("opcodes", [(127,), (1 | 2 | 64,), (1, 2 | 4), (1, 70), (8,)])
def test_the_program_is_what_is_left(start: trial.Trial, opcodes: tuple[int, ...]) -> None:
    device, run, waits = start.device, copy(start), 0
    run.model = trial.another(start.model)
    for opcode in opcodes:
        run.word(opcode)
        while step := run.model.state["step"]:
            _same(device, run)
            waits += 1
            run.word(device.settings.get(step, (1,))[0])
        _same(device, run)
    assert waits or opcodes == (8,)


def _same(device: Device, run: trial.Trial) -> None:
    state = run.model.state
    assert state["error"] == 0
    assert _told(device, state["step"], state["todo"]) == _held(device, run)


def _told(device: Device, step: int, todo: int) -> list[int]:
    links = device.program(step, {"todo": z3.BitVecVal(todo, device.model.states["todo"].sort())})
    return [z3.simplify(link.term).as_long() for link in links if _place(device, link.register, link.low)]


def _held(device: Device, run: trial.Trial) -> list[int]:
    """All bits of the program that the machine has, the lowest first."""
    places = [_place(device, "receiver.program_", bit) for bit in range(32)]
    return [run.registers[name] >> low & 1 for name, low in filter(None, places)]


def _place(device: Device, register: str, low: int) -> tuple[str, int] | None:
    return device.machine.place(register, low, 1)


def test_without_such_words_a_step_says_it_all() -> None:
    assert [*combined.left(model_of(isa.builtin("v3_4")))(1, {})] == []
