"""The hand-written drivers on the simulated SoC, and the kernels for the CPU alone, against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.some import slow

from axiloom import boards, isa, sw
from axiloom.base.errors import CompileError
from axiloom.cosim.build.toolchain import compile_bare
from axiloom.cosim.core import run_cpu
from axiloom.cosim.job import Job
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System

BOARD = boards.load(boards.DEFAULT)
Array = np.ndarray[Any, Any]


def build(folder: Path, source: str, shape: tuple[int, int, int], *flow: str, **defines: int) -> Path:
    sizes = dict(zip("MNK", shape, strict=True))
    elf = folder / f"{source}{''.join(flow)}.elf"
    macros = {**sizes, **defines, **{f"FLOW_{name}": 1 for name in flow}}
    return compile_bare([sw.BASELINES / f"{source}.c"], elf, board=BOARD, defines=macros)


def problem(shape: tuple[int, int, int], bits: int = 32) -> tuple[dict[str, Array], Array]:
    """Arrays over the whole range of their type (A and B of `bits`), and what C must become."""
    M, N, K = shape
    rng = np.random.default_rng(7)
    forms = {"A": ((M, K), bits), "B": ((K, N), bits), "C": ((M, N), 32)}
    arrays = {
        name: rng.integers(-(2 ** (width - 1)), 2 ** (width - 1), form, np.int64).astype(f"int{width}")
        for name, (form, width) in forms.items()
    }
    return arrays, arrays["C"] + arrays["A"].astype(np.int32) @ arrays["B"].astype(np.int32)


def words_in(version: str, flow: str, shape: tuple[int, int, int], tile: tuple[int, int, int]) -> int:
    """Payload and opcodes, each opcode of v4 followed by its dims."""
    m, n, k = (size // t for size, t in zip(shape, tile, strict=True))
    steps = m * n * k
    a, b = {"As": (m * k, steps), "Bs": (steps, n * k)}.get(flow, (steps, steps))
    stores = m * n if flow == "Cs" else steps
    payload = a * tile[0] * tile[2] + b * tile[2] * tile[1]
    opcodes = {"v1": 0, "v2": a + b + steps}.get(version, a + b + steps + stores)
    return payload + opcodes * (2 if version == "v4" else 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "size", "flows", "shape", "tile"),
    [
        ("v1", 4, ["Ns"], (8, 12, 16), (4, 4, 4)),
        slow("v2", 4, ["Ns", "As", "Bs"], (8, 12, 16), (4, 4, 4)),
        ("v3", 4, ["Ns", "As", "Bs", "Cs"], (8, 12, 16), (4, 4, 4)),
        ("v3", 4, ["Cs"], (8, 12, 4), (4, 4, 4)),
        ("v4", 16, ["Ns", "As", "Bs", "Cs"], (32, 96, 64), (16, 48, 32)),
    ],
)
def test_a_driver_makes_one_transfer_a_step(
    tmp_path: Path,
    version: str,
    size: int,
    flows: list[str],
    shape: tuple[int, int, int],
    tile: tuple[int, int, int],
) -> None:
    arrays, expected = problem(shape)
    tiles = dict(zip(("TM", "TN", "TK"), tile, strict=True)) if version == "v4" else {}
    elfs = [
        build(tmp_path, version, shape, *([] if version == "v1" else [flow]), S=size, **tiles)
        for flow in flows
    ]
    jobs = [Job(elf, arrays, {"C": (expected.shape, "int32")}) for elf in elfs]
    m, n, k = (extent // t for extent, t in zip(shape, tile, strict=True))
    for flow, result in zip(flows, Soc(System(isa.builtin(version, size))).run_many(jobs), strict=True):
        np.testing.assert_array_equal(result.outputs["C"], expected, err_msg=flow)
        stores = m * n if flow == "Cs" else m * n * k
        found = {name: result.fabric[name] for name in ("transfers_in", "transfers_out", "words_in")}
        assert found == {
            "transfers_in": m * n * k,
            "transfers_out": stores,
            "words_in": words_in(version, flow, shape, tile),
        }, flow
        assert result.fabric["words_out"] == stores * tile[0] * tile[1]
        assert result.stale == []


@pytest.mark.every(4)
@pytest.mark.parametrize("bits", [8, 32])
@pytest.mark.parametrize("kernel", ["cpu_naive", "cpu_neon"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (4, 8, 4), (13, 21, 7), (12, 72, 68), (129, 77, 133)])
def test_a_cpu_kernel_equals_numpy(
    tmp_path: Path, kernel: str, shape: tuple[int, int, int], bits: int
) -> None:
    arrays, expected = problem(shape, bits)
    run = run_cpu(build(tmp_path, kernel, shape, BITS=bits), arrays, {"C": (expected.shape, "int32")}, BOARD)
    np.testing.assert_array_equal(run.outputs["C"], expected)


@pytest.mark.every(3)
@pytest.mark.parametrize("shape", [(4, 8, 4), (12, 72, 68), (36, 77, 133)])
def test_a_kernel_with_b_packed_before_the_run(tmp_path: Path, shape: tuple[int, int, int]) -> None:
    """B itself is read for what is left over alone: blocks of 128 k's, eight columns after eight columns."""
    arrays, expected = problem(shape, 8)
    depth, columns = shape[2] // 4 * 4, shape[1] // 8 * 8
    packed = [
        arrays["B"][k, n : n + 8]
        for first in range(0, depth, 128)
        for n in range(0, columns, 8)
        for k in range(first, min(first + 128, depth))
    ]
    arrays["P"] = np.concatenate(packed).astype(np.int16)
    arrays["B"][:depth, :columns] = 0
    elf = build(tmp_path, "cpu_neon", shape, BITS=8, PACKED=1)
    run = run_cpu(elf, arrays, {"C": (expected.shape, "int32")}, BOARD)
    np.testing.assert_array_equal(run.outputs["C"], expected)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("source", "flow", "shape", "defines", "message"),
    [
        ("v3", ["Cs"], (8, 8, 6), {"S": 4}, "M, N and K must be positive multiples of S"),
        ("v3", ["Cs"], (8, 8, 8), {}, "give the sizes"),
        ("v3", [], (8, 8, 8), {"S": 4}, "choose a flow: -DFLOW_Ns"),
        ("v2", ["Cs"], (8, 8, 8), {"S": 4}, "v2 does not keep C"),
        ("v1", ["As"], (8, 8, 8), {"S": 4}, "v1 keeps nothing"),
        ("v4", ["Cs"], (32, 32, 32), {"S": 16}, "give the tile"),
        ("v4", ["Cs"], (32, 32, 32), {"S": 16, "TM": 8, "TN": 16, "TK": 16}, "multiples of S"),
        ("v4", ["Cs"], (32, 32, 48), {"S": 16, "TM": 16, "TN": 16, "TK": 32}, "multiples of TM, TN and TK"),
        ("v4", ["Cs"], (128, 128, 64), {"S": 16, "TM": 128, "TN": 128, "TK": 16}, "holds 4096 words"),
        ("cpu_neon", [], (8, 0, 8), {}, "M, N and K must be positive"),
        ("cpu_neon", [], (8, 8, 8), {"BITS": 16}, "must be 8 or 32"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(
    tmp_path: Path,
    source: str,
    flow: list[str],
    shape: tuple[int, int, int],
    defines: dict[str, int],
    message: str,
) -> None:
    with pytest.raises(CompileError, match=message):
        build(tmp_path, source, shape, *flow, **defines)
