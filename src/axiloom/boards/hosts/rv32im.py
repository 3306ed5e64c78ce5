"""A small RISC-V core in programmable logic: RV32IM with Zicbom and Zicsr in machine mode, in order, no MMU.

It stands for soft cores of the kind of VexRiscv, not for one of them. Its D cache is written back, maintained
by line (cbo.*); which memory it caches is fixed when it is built.

A soft core's attributes are the profile's. Such cores have no MMU: which addresses they cache is fixed
when they are built. A table that start code exposes would let a program claim what the hardware does not
do. A window that is cached by mistake shows as a missing flush.
"""

from __future__ import annotations

from axiloom import sw
from axiloom.boards.hosts.host import Executable, Freestanding, Host

HOST = Host(
    name="rv32im",
    title="RV32IM soft core",
    architecture="riscv32",
    line_bytes=32,
    # e_flags of the RISC-V ELF psABI: EF_RISCV_RVC, EF_RISCV_FLOAT_ABI, EF_RISCV_RVE.
    executable=Executable(
        "EM_RISCV",
        32,
        refused={0x1: "compressed instructions", 0x6: "floating point in registers", 0x8: "the ABI of RV32E"},
    ),
    bare=Freestanding(
        flags=("-target", "riscv32-freestanding", "-mcpu=generic_rv32+m+zicbom", "-mabi=ilp32"),
        folder="rv32",
        strings=sw.ROOT / "rv32" / "string.c",
        include=sw.INCLUDE,
    ),
    cache_levels=1,
    fixed_attributes=True,
)
