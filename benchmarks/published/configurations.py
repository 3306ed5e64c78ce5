"""Configuration files in the paper's form and in the older, flat one."""

from __future__ import annotations

from typing import Any

A, B = ({"READ": {"dma_fifo_id": 0, "data": operand, "offset": 0, "length": 16}} for operand in "AB")
COMPUTE = {"COMPUTE": {"kernel_id": 0, "data": "C"}}
SEND = {"SEND": {"dma_fifo_id": 1, "data": "C", "offset": 0, "length": 16}}


def flat(opcodes: dict[str, list[Any]], **more: Any) -> dict[str, Any]:
    """A file of the older form."""
    return {
        "name": "MM_4x4",
        "memory_layout": {"#A_Buffer": {"size": 16, "data_type": "int32"}},
        "tile_size": 4,
        "data_type": "int32",
        "dims": ["N", "M", "K"],
        "data": {"A": ["N", "K"], "B": ["M", "K"], "C": ["N", "M"]},
        "dma_config": [1600, 1700, 1000, 1800, 1000],
        "ISA": {"instruction_format": {"opcode_length": 32}, "opcodes": opcodes},
        **more,
    }


def bits(*parts: list[Any]) -> dict[str, list[Any]]:
    """An opcode for each combination of bits."""
    words = range(1 << len(parts))
    return {
        str(word): [action for at, part in enumerate(parts) if word >> at & 1 for action in part]
        for word in words
    }


def paper(opcodes: str, flows: dict[str, str], selected: str) -> dict[str, Any]:
    """A file of the paper's form."""
    accelerator = {
        "name": "paper",
        "kernel": "linalg.matmul",
        "accel_size": [4, 4, 4],
        "data_type": "int32",
        "dims": ["m", "n", "k"],
        "data": {"A": ["m", "k"], "B": ["k", "n"], "C": ["m", "n"]},
        "opcode_map": f"opcode_map<{opcodes}>",
        "opcode_flow_map": flows,
        "selected_flow": selected,
    }
    return {
        "cpu": {"cache-levels": ["32K", "512K"], "cache-types": ["data", "shared"]},
        "accelerators": [accelerator],
    }


CONFIGURATIONS: dict[str, Any] = {
    "flat, v1": flat({"-1": [A, B, COMPUTE, SEND]}),
    "flat, v2": flat(bits([A], [B], [COMPUTE, SEND])),
    "flat, v2 with a register map": flat(bits([A], [B], [COMPUTE, SEND]), **{"acc_regmap ": {"0x04": {}}}),
    "flat, v3 in two words": flat({"0": [A, B, COMPUTE], "1": [SEND]}),
    "flat, v4": flat(bits([A], [B], [COMPUTE], [SEND])),
    "flat, addresses of a board": flat(
        bits([A], [B], [COMPUTE], [SEND]), dma_config=[0x4040_0000, 0x1600_0000, 65536, 0x1640_0000, 65536]
    ),
    "paper, v1": paper("s=[op_send(0), op_send(1)], r=[op_recv(2)]", {"Ns": "(s r)"}, "Ns"),
    "paper, v2": paper(
        "s0=[op_send_literal(1), op_send(0)], s1c=[op_send_literal(6), op_send(1)], r=[op_recv(2)]",
        {"As": "(s0 (s1c r))"},
        "As",
    ),
    "paper, v3 with opcodes that no flow uses": paper(
        "s0=[op_send_literal(1), op_send(0)], s1c=[op_send_literal(14), op_send(1)], r=[op_recv(2)], "
        "x=[op_send_literal(32)],",
        {"As": "(s0 (s1c r))"},
        "As",
    ),
    "caches of a board alone": {"CPU_cache_levels": [128, 32]},
}
