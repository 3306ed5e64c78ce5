"""Pragmas of arrays and loops (AMD UG1399, "HLS Pragmas")."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import affine
from xdsl.ir import SSAValue

from axiloom.nests.affine import attributes as at
from axiloom.nests.affine.walk import Function, Memory
from axiloom.nests.hls.carried import free_arrays

_IMPLEMENTATIONS = {"block": "bram", "distributed": "lutram"}


def interface(memory: Memory, variable: str) -> str:
    """Arrays are memories outside of the kernel; scalars lie in registers that the host writes."""
    mode = "ap_memory" if memory.shape else "s_axilite"
    return f"#pragma HLS interface mode={mode} port={variable}"


def storage(memory: Memory, variable: str) -> list[str]:
    lines = []
    partition = at.read_mixed(memory.attributes, at.PARTITION)
    blocks = at.read_mixed(memory.attributes, at.BLOCKS) or []
    if partition is not None and partition[0] == "hyperplane":
        banks, *coefficients = partition[1:]
        form = " + ".join(f"{factor}*x{i}" for i, factor in enumerate(coefficients))
        lines.append(f"// {variable}: bank ({form}) mod {banks}; HLS has no pragma for it")
    elif partition is not None:
        for dimension, factor in enumerate(partition[1:]):
            assert isinstance(factor, int)
            if factor == 1:
                continue
            kind = "block" if partition[0] == "block" or dimension in blocks else "cyclic"
            how = f"{kind} factor={factor}" if factor < memory.shape[dimension] else "complete"
            lines.append(f"#pragma HLS array_partition variable={variable} {how} dim={dimension + 1}")
    asked = at.read_text(memory.attributes, at.STORAGE)
    if asked == "registers":
        lines.append(f"#pragma HLS array_partition variable={variable} complete dim=0")
    elif asked in _IMPLEMENTATIONS:
        lines.append(
            f"#pragma HLS bind_storage variable={variable} type=ram_2p impl={_IMPLEMENTATIONS[asked]}"
        )
    return lines


def stream(memory: Memory, variable: str, lanes: int) -> str:
    """As many elements as the plan's entries have: those of all lanes."""
    depth = (at.read_integer(memory.attributes, at.STREAM) or 2) * lanes
    return f"#pragma HLS stream variable={variable} depth={depth}"


def loop(op: affine.ForOp, source: Function, variables: Mapping[SSAValue, str]) -> list[str]:
    if at.is_unrolled(op):
        return ["#pragma HLS unroll"]
    interval = at.read_integer(op.attributes, at.PIPELINE)
    if interval is None:
        return []
    lines = [f"#pragma HLS pipeline II={interval}"]
    free = free_arrays(op)
    lines += [
        f"#pragma HLS dependence variable={variables[memory]} type=inter false"
        for memory in source.memories
        if memory in free
    ]
    if free:
        lines.append(
            "#pragma HLS loop_flatten off  // no dependence within a run of this loop: proven by isl"
        )
    return lines
