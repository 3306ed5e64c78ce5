"""The state map of conv_v4 on integers: after words from reset, registers hold what the model holds."""

from __future__ import annotations

import random
from typing import Any

import pytest
import z3

from axiloom import isa
from axiloom.isa.formal.simulate import Simulator
from axiloom.prove.rtl.maps import ours as maps
from axiloom.prove.rtl.maps.device import Device
from axiloom.prove.rtl.opcodes import trial


@pytest.mark.slow
def test_registers_hold_what_the_map_says() -> None:
    """Image, filters and results, while they are loaded and behind it."""
    device = maps.device_of(maps.small(isa.builtin("conv_v4")))
    run = trial.Trial(device, device.machine.simulator(), random.Random(1), Simulator(device.model))
    source, held, opcodes = random.Random(1), set[str](), iter([16, 1, 2, 4, 4, 1, 8])
    while run.model.state["step"] or (opcode := next(opcodes, None)):
        step = run.model.state["step"]
        settings = device.settings.get(step, (source.getrandbits(32),))
        got, expected = run.word(settings[0] if step else opcode)
        assert got == expected
        assert not run.model.state["error"]
        held |= _held(device, run)
    assert {name.partition("[")[0].partition(".")[0] for name in held} == {"window", "filters", "result"}


def _held(device: Device, run: trial.Trial) -> set[str]:
    """The registers of the map, each looked at."""
    control = dict(zip(device.control, run.control, strict=True))
    state = run.model.state
    model = {name: _term(term, state[name]) for name, term in device.model.states.items() if name in state}
    registers = {
        name: z3.BitVecVal(run.registers[name], one.size()) for name, one in device.machine.registers.items()
    }
    found = set()
    for link in device.links(control, model, registers):
        place = device.machine.place(link.register, link.low, link.term.size())
        if place is None or not z3.is_true(z3.simplify(link.when)):
            continue
        name, low = place
        holds = run.registers[name] >> low & (1 << link.term.size()) - 1
        term = z3.simplify(link.term)
        if z3.is_bv_value(term):
            assert holds == term.as_long(), f"{name} at {control}"
            found.add(name)
    return found


def _term(term: Any, value: Any) -> Any:
    if not z3.is_array(term):
        return z3.BitVecVal(value, term.size())
    made = z3.K(term.sort().domain(), z3.BitVecVal(0, term.sort().range()))
    for address in range(min(16, 1 << made.domain().size())):
        made = z3.Store(made, address, value[address])
    return made
