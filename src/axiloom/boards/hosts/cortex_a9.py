"""A Cortex-A9 as in a Zynq-7000: ARMv7 with NEON, a PL310 as its second level."""

from __future__ import annotations

from axiloom import sw
from axiloom.boards.hosts.host import Executable, Freestanding, Host, Linux

HOST = Host(
    name="cortex_a9",
    title="Cortex-A9",
    architecture="armv7",
    line_bytes=32,  # its TRM, 7.1
    executable=Executable("EM_ARM", 32),
    bare=Freestanding(
        flags=("-target", "arm-freestanding-eabihf", "-mcpu=cortex_a9", "-marm"),
        folder="arm",
        strings=sw.NEON_STRINGS,
        include=sw.INCLUDE,
    ),
    linux=Linux(
        flags=("-target", "arm-linux-musleabihf", "-mcpu=cortex_a9", "-marm"),
        calls="arm-linux-any/asm/unistd-eabi.h",
    ),
    kernels=("loops", "neon"),
    on_chip_bytes=3 << 16,  # where it is after reset (UG585, 29.2.6): three of its four 64 KiB
)
