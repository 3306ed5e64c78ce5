"""Sustained operations a cycle of the multiply-add array with operands resident, for S = 4, 8, 16.

Two runs with N and 2N computes on the SoC; their difference leaves out start-up and loading. A
multiply-add is two operations. Published (CGO 2024, 200 MHz HLS): 10, 60, 112; aim: 30, 120, 120.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from axiloom import boards, isa
from axiloom.cosim.build import toolchain
from axiloom.cosim.job import Job
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System

COMPUTES = 16_000
PUBLISHED = {4: 10, 8: 60, 16: 112}
AIM = {4: 30, 8: 120, 16: 120}


def operations_per_cycle(size: int) -> float:
    spec = isa.builtin("v3", size)
    literal = {name: op.literal for name, op in spec.opcodes.items()}
    defines = {
        "OPCODE": literal["cC"],
        "LOAD_A": literal["sA"],
        "LOAD_B": literal["sB"],
        "STORE": literal["rC"],
        "A_WORDS": spec.operand_words("A"),
        "B_WORDS": spec.operand_words("B"),
        "C_WORDS": spec.operand_words("C"),
        "DMA": spec.link.dma.address,
        "IN_ADDRESS": spec.link.dma.input_address,
        "IN_BYTES": spec.link.dma.input_buffer_size,
        "OUT_ADDRESS": spec.link.dma.output_address,
        "OUT_BYTES": spec.link.dma.output_buffer_size,
    }
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for computes in (COMPUTES, 2 * COMPUTES):
            elf = Path(folder) / f"{computes}.elf"
            toolchain.compile_bare(
                [Path(__file__).with_name("resident.c")],
                elf,
                board=boards.load(boards.DEFAULT),
                length_bits=spec.link.dma.length_width,
                # Uncached windows: nothing to clean between transfers, so that the array is what is measured.
                defines={**defines, "COMPUTES": computes, "AXL_DMA_CACHED": 0},
            )
            jobs.append(Job(elf, {}, {}))
        soc = Soc(System(spec))
        soc.build()
        once, twice = soc.run_many(jobs)
    return 2 * size**3 * COMPUTES / (twice.fabric["cycles"] - once.fabric["cycles"])


def main() -> None:
    print("operations a cycle, operands resident (int32, default multiply-adds)")
    print(f"{'S':>4} {'ours':>8} {'aim':>6} {'published':>10} {'ratio':>7}")
    for size in (4, 8, 16):
        ours = operations_per_cycle(size)
        print(f"{size:>4} {ours:>8.1f} {AIM[size]:>6} {PUBLISHED[size]:>10} {ours / PUBLISHED[size]:>7.2f}")


if __name__ == "__main__":
    main()
