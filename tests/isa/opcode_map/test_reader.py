"""Opcodes as instructions: the order of what comes, goes and is refused; names; the way of the whole tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from axiloom import isa
from axiloom.isa import DeviceError, FunctionalModel
from axiloom.isa.contract.types import Load, Opcode, Recv, Send, SendLiteral, Store
from axiloom.isa.files.device import device_of
from axiloom.isa.instructions.simulator.reference import Reference
from axiloom.isa.instructions.simulator.simulate import Simulator
from axiloom.isa.instructions.simulator.state import State
from axiloom.isa.instructions.tree import Const
from axiloom.isa.kernels.language.kernel import Kernel
from axiloom.isa.opcode_map.reader import read


def swapped() -> isa.AcceleratorSpec:
    """v3_4 that sends C before it takes the next A, for one opcode."""
    spec = isa.builtin("v3_4")
    both = Opcode("rCsA", (SendLiteral(8), Recv("C"), Send("A")), (Store("C"), Load("A")))
    return spec.replace(opcodes={**spec.opcodes, "rC": both})


def test_a_result_goes_before_the_tile_behind_it_comes() -> None:
    model = FunctionalModel(swapped())
    assert model.feed([8]).tolist() == [0] * 16
    assert (model.wanted, model.feed([1] * 15).size, model.wanted) == (16, 0, 1)


def test_sizes_of_a_combined_word_are_looked_at_one_by_one() -> None:
    """Each single word in its turn, also where both lie in one beat."""
    spec = isa.revise(isa.builtin("conv_v3"), stream_width=128)
    model = FunctionalModel(spec)
    model.feed([32 | 16, 0, 5, 9])
    assert (model.code, model.accepted) == (DeviceError.BAD_DIMS, 4)
    narrow = FunctionalModel(isa.builtin("conv_v3"))
    narrow.feed([32 | 16, 0, 5])
    assert (narrow.code, narrow.accepted) == (DeviceError.BAD_DIMS, 2)


def test_any_name_is_a_name() -> None:
    """Iterators and operands that are words of Python, types or names of ours."""
    iterators = {"for": "parallel", "word": "parallel", "int8": "reduction"}
    operands = {"min": {"for": "for", "int8": "int8"}, "saved": {"int8": "int8", "word": "word"}}
    out = {"C_in": {"for": "for", "word": "word"}}
    kernel = Kernel("mine", iterators, {**operands, **out}, "C_in + min * saved")
    spec = device_of(kernel, {"for": 2, "word": 2, "int8": 2}, "int32")
    model = FunctionalModel(spec)
    a, b = np.array([[1, 2], [3, 4]]), np.array([[5, 6], [7, 8]])
    words = [1, 2, 2, 2, 2, *a.ravel(), 3, *b.ravel(), 4, 5]
    assert model.feed(words).tolist() == (a @ b).ravel().tolist()


def test_sizes_beyond_any_buffer_are_refused_where_they_are_used() -> None:
    """A register has fewer bits than the word: nothing wraps into what fits."""
    spec = device_of("linalg.matmul_transpose_b", {"m": 2, "n": 2, "k": 2})
    for size in (1 << 16, (1 << 16) + 2, (1 << 31) + 2, (1 << 32) - 1):
        model = FunctionalModel(spec)
        model.feed([1, 2, 2, size])
        assert model.error is None
        model.feed([2])
        assert model.code is DeviceError.BAD_DIMS


@pytest.mark.parametrize(
    ("name", "options"),
    [("v3_4", {"post": True}), ("v4_16", {}), ("conv_v3", {}), ("v3_4", {"data_type": "float32"})],
)
def test_pieces_do_what_the_tree_says(name: str, options: dict[str, Any]) -> None:
    """The simulator's pieces against the tree executed element by element, from any state."""
    spec = isa.builtin(name, **options)
    opcodes = read(spec)
    tree = opcodes.instructions
    simulator, random = Simulator(tree), np.random.default_rng(1)
    for instruction in tree.instructions.values():
        simulator.reset()
        for memory in tree.memories.values():
            low, high = max(memory.type.low, -99), min(memory.type.high, 99)
            simulator.state[memory.name] = random.integers(low, high, memory.shape, endpoint=True)
        for register in tree.registers.values():
            if register.type.bits == 1 or name == "v4_16":  # all is there, under the sizes of `word`
                simulator.state[register.name] = min(16, register.type.high)
            elif (dim := register.name.rpartition("_")[2]) in tree.registers:  # the shape that is loaded
                simulator.state[register.name] = simulator.state[dim]
        other = State(tree)
        dict.update(other, simulator.state.copied())
        word = 16 | 1 << 32 if name == "conv_v3" else 16 << 32 | 16 << 42 | 16 << 52
        simulator.part(replace(instruction, name="whole"), Const(0))(simulator.state, word)
        Reference(tree, other).execute(instruction, {"word": word})
        for key, value in other.items():
            np.testing.assert_array_equal(simulator.state[key], value, err_msg=f"{instruction.name}: {key}")
