"""C for the host's side, built by :mod:`axiloom.cosim.toolchain`.

``include/axiloom.h`` is the runtime's interface, ``src/`` the runtime, ``arm/`` the start-up code, linker
script and platform of a Cortex-A9, ``linux/`` the platform of a Linux process, ``remote/`` that of a PC whose
DMA is behind a line, ``baselines/`` drivers and CPU kernels by hand to measure against.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent
INCLUDE = (ROOT / "include", ROOT / "arm" / "include")
BASELINES = ROOT / "baselines"
LINKER_SCRIPT = ROOT / "arm" / "link.ld"

SOURCES = (
    ROOT / "arm" / "start.S",
    ROOT / "arm" / "platform.c",
    ROOT / "src" / "dma.c",
    ROOT / "src" / "dma_simple.c",
    ROOT / "src" / "dma_sg.c",
    ROOT / "src" / "dma_queue.c",
    ROOT / "src" / "dma_packets.c",
    ROOT / "src" / "dma_copy.c",
    ROOT / "src" / "dma_block.c",
    ROOT / "src" / "dma_status.c",
)
REMOTE_SOURCES = (ROOT / "remote" / "platform.c", *(path for path in SOURCES if path.parent.name == "src"))
"""The runtime of a driver that runs on a PC, while its DMA is behind a line."""
LINUX = ROOT / "linux"
LINUX_SOURCES = (
    LINUX / "devices.c",
    LINUX / "platform.c",
    *(path for path in SOURCES if path.parent.name == "src"),
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
