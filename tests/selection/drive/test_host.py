"""Host bytes of commands, against memories that notice who touches what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from axiloom.base.errors import CompileError
from axiloom.isa.instructions.library import target
from axiloom.isa.instructions.read import parse
from axiloom.isa.instructions.simulator.simulate import Simulator
from axiloom.selection.drive.encode import Encoder
from axiloom.selection.drive.host import access
from axiloom.selection.program.program import Command

COMMANDS = {
    "qkv": [
        Command("load_rm", {"n": 5, "out": 3, "base": 640}),
        Command("load_cm", {"n": 64, "out": 7, "base": 1024}),
        Command("gemm", {"a": 0, "b": 64}),
        Command("store_rm", {"n": 2, "row": 4, "base": 256}),
        Command("store_cm", {"n": 64, "row": 0, "base": 0}),
    ],
    "vta": [
        Command(
            "load_inp", {"sram": 0, "base": 4, "rows": 2, "count": 3, "stride": 5, "above": 1, "left": 1}
        ),
        Command("load_wgt", {"sram": 0, "base": 2, "rows": 1, "count": 2, "stride": 2}),
        Command("load_acc", {"sram": 0, "base": 2, "rows": 3, "count": 1, "stride": 2, "below": 2}),
    ],
}


def _touched(name: str, command: Command) -> tuple[int, set[int]]:
    """How many bytes on the device change with all bytes of the host; and which bytes are written there."""
    isa = target(name)
    inputs = Encoder(isa).inputs(command)
    host = next(one.name for one in isa.memories.values() if one.host)
    rng = np.random.default_rng(1)
    first, second = Simulator(isa, vectorised=True), Simulator(isa, vectorised=True)
    size = isa.memories[host].shape[0]
    base = rng.integers(0, 256, size)
    for one in (first, second):
        one.state[host][:] = base
        for memory in isa.memories.values():
            if not memory.host:
                one.state[memory.name][...] = 1
    first.command(**inputs)
    second.state[host][:] = base ^ 255
    second.command(**inputs)
    written = {int(at) for at in np.flatnonzero(np.asarray(first.state[host]) != base)}
    changed = sum(
        int((np.asarray(first.state[one.name]) != np.asarray(second.state[one.name])).sum()) * _width(one)
        for one in isa.memories.values()
        if not one.host
    )
    return changed, written


def _width(memory: Any) -> int:
    return (memory.type.bits + 7) // 8


@pytest.mark.parametrize(
    ("name", "command"), [(name, one) for name, all_ in COMMANDS.items() for one in all_]
)
def test_bytes_of_a_command(name: str, command: Command) -> None:
    isa = target(name)
    found = access(isa, command.instruction, Encoder(isa).inputs(command))
    changed, written = _touched(name, command)
    assert len(found.reads) == len(set(found.reads.tolist())) == changed
    assert written <= set(found.writes.tolist())
    if found.writes.size:
        assert len(written) > 0.9 * len(found.writes)


def test_their_order() -> None:
    """As the text says it, a lane after the other: QKV's rows, VTA's rows with their stride."""
    isa = target("qkv")
    stored = access(
        isa, "store_rm", Encoder(isa).inputs(Command("store_rm", {"n": 2, "row": 0, "base": 256}))
    )
    assert stored.writes.tolist() == list(range(256, 256 + 2 * 128))
    vta = target("vta")
    command = Command("load_inp", {"base": 4, "rows": 2, "count": 2, "stride": 5, "left": 1})
    loaded = access(vta, "load_inp", Encoder(vta).inputs(command))
    assert loaded.reads.tolist() == [16 * (4 + 5 * row) + at for row in range(2) for at in range(32)]


TEXT = '''"""Addresses of the data."""
word = input(8)
host = memory(256, type=uint8, host=True)
x = memory(16, type=uint8)
r = register(uint8)

@instruction(word[0:2] == 1)
def by_data():
    for k in range(4):
        x[k] = host[x[k]]

@instruction(word[0:2] == 2)
def by_register():
    n = r
    for k in range(n):
        x[0] = host[k]

@instruction(word[0:2] == 3)
def outside():
    n = word[2:8]
    for k in range(n):
        host[uint8(4 * k) + 200] = 0
'''


@pytest.mark.parametrize(
    ("name", "word", "message"),
    [
        ("by_data", 1, "by_data: data decides which bytes of the host it touches"),
        ("by_register", 2, "by_register: register r decides which bytes of the host it touches"),
        ("outside", 3 | 20 << 2, "outside: an address lies outside of host"),
    ],
)
def test_what_data_decide_is_refused(name: str, word: int, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        access(parse(TEXT, "text.isa", "text"), name, {"word": word})
