"""C for the host's side, built by :mod:`axiloom.cosim.build.toolchain`.

``include/axiloom.h`` is the runtime's interface, ``src/`` the runtime, ``freestanding/`` what a C compiler
brings only for an operating system. ``arm/``, ``arm64/`` ... are each the start-up code, linker script and
platform of a host on bare metal (:mod:`axiloom.boards.hosts`), ``linux/`` the platform of a Linux process,
``cxx/`` what C++ needs before main on bare metal, ``bsp/`` the API of Xilinx' standalone BSP with start-up
code, ``remote/`` the platform of a PC whose DMA is behind a line, ``baselines/`` drivers and CPU kernels by
hand to measure against.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent
INCLUDE = (ROOT / "include", ROOT / "freestanding")
"""For bare metal."""
BASELINES = ROOT / "baselines"
NEON_STRINGS = ROOT / "arm" / "string.c"
"""The functions of freestanding/string.h, for CPUs with NEON."""

RUNTIME = (
    ROOT / "src" / "dma.c",
    ROOT / "src" / "dma_simple.c",
    ROOT / "src" / "dma_sg.c",
    ROOT / "src" / "dma_queue.c",
    ROOT / "src" / "dma_table.c",
    ROOT / "src" / "dma_packets.c",
    ROOT / "src" / "dma_copy.c",
    ROOT / "src" / "dma_block.c",
    ROOT / "src" / "dma_status.c",
)
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
