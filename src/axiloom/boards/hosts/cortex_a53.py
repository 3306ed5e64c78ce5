"""A Cortex-A53 as in a Zynq UltraScale+: AArch64."""

from __future__ import annotations

from axiloom import sw
from axiloom.boards.hosts.host import Executable, Freestanding, Host, Linux

HOST = Host(
    name="cortex_a53",
    title="Cortex-A53",
    architecture="aarch64",
    line_bytes=64,  # its TRM, 6.1
    executable=Executable("EM_AARCH64", 64),
    bare=Freestanding(
        flags=("-target", "aarch64-freestanding", "-mcpu=cortex_a53"),
        folder="arm64",
        strings=sw.NEON_STRINGS,
        include=sw.INCLUDE,
    ),
    linux=Linux(
        flags=("-target", "aarch64-linux-musl", "-mcpu=cortex_a53"),
        calls="aarch64-linux-any/asm/unistd_64.h",
    ),
    kernels=("loops", "neon"),
)
