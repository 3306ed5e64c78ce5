"""C for the host's side, built by :mod:`axiloom.cosim.build.toolchain`.

``include/axiloom.h`` is the runtime's interface, ``src/`` the runtime, ``arm/`` and ``arm64/`` the start-up
code, linker script and platform of a Cortex-A9 and a Cortex-A53, ``linux/`` the platform of a Linux process,
``remote/`` that of a PC whose DMA is behind a line, ``baselines/`` drivers and CPU kernels by hand to measure
against.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent
INCLUDE = (ROOT / "include", ROOT / "arm" / "include")
BASELINES = ROOT / "baselines"
LINKER_SCRIPT = ROOT / "arm" / "link.ld"
LINKER_SCRIPT_64 = ROOT / "arm64" / "link.ld"

RUNTIME = (
    ROOT / "src" / "dma.c",
    ROOT / "src" / "dma_simple.c",
    ROOT / "src" / "dma_sg.c",
    ROOT / "src" / "dma_queue.c",
    ROOT / "src" / "dma_packets.c",
    ROOT / "src" / "dma_copy.c",
    ROOT / "src" / "dma_block.c",
    ROOT / "src" / "dma_status.c",
)
SOURCES = (ROOT / "arm" / "start.S", ROOT / "arm" / "platform.c", *RUNTIME)
SOURCES_64 = (ROOT / "arm64" / "start.S", ROOT / "arm64" / "platform.c", *RUNTIME)
REMOTE_SOURCES = (ROOT / "remote" / "platform.c", *RUNTIME)
"""The runtime of a driver that runs on a PC, while its DMA is behind a line."""
LINUX = ROOT / "linux"
LINUX_SOURCES = (
    LINUX / "devices.c",
    LINUX / "platform.c",
    *RUNTIME,
)
"""The runtime of a Linux process, with the libraries and headers of the target beside ``include/``."""
LINUX_SCRIPT = LINUX / "link.ld"
LINUX_IMAGE_BASE = 0x1000_0000
"""Where a Linux program is linked to: below the region, in memory that the simulated SoC has."""
LINUX_REGION_ADDRESS = 0x15C0_0000
LINUX_REGION_BYTES = 64 << 20
"""The reserved memory: rings of descriptors, the specification's windows, arrays for transfers in place."""
NO_BUILTIN_SOURCES = (ROOT / "arm" / "string.c",)
"""Compiled with -fno-builtin: they are what the compiler's builtins call."""
