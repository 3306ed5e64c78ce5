"""Kinds of C that other readers, or ours before, got wrong or refused: each function of ``kinds.c`` against
the host's compiler, in two calls."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from axiloom.nest.referee import Referee
from axiloom.nests.affine.interpret import interpret, random_array
from axiloom.nests.poly.checks import faults
from axiloom.nests.read.c import read

FILE = Path(__file__).with_name("kinds.c")
KINDS = re.findall(r"^(?!static)\w+ (\w+)\(.*\{$", FILE.read_text(), re.M)


@pytest.mark.every(6)
@pytest.mark.parametrize("name", KINDS)
def test_as_the_hosts_compiler_has_it(name: str) -> None:
    loaded = read(FILE, name)
    assert faults(loaded.program) == []
    referee = Referee.of(loaded)
    assert referee is not None
    for seed in range(3):
        rng = np.random.default_rng(seed)
        state = dict(loaded.contents)
        for item in loaded.program.arrays:
            if item.role.is_given and item.name not in state:
                values = random_array(item, rng)
                small = 2 if item.number == "uint1" else 7
                is_small = seed and values.dtype.kind in "iu"
                state[item.name] = (values % small).astype(values.dtype) if is_small else values
        for after in referee.judge(state, calls=2).calls:
            for by in ("python", "c"):
                results = interpret(loaded.program, state, by=by)
                for array in results.keys() & after.keys():  # but what a function keeps for itself
                    np.testing.assert_array_equal(results[array], after[array], f"{array} by {by}")
            state |= results
