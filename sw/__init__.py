"""C for the host's side, built by :mod:`axiloom.cosim.toolchain`.

``include/axiloom.h`` is the runtime's interface, ``src/`` the runtime, ``arm/`` the start-up code, linker
script and platform of a Cortex-A9, ``baselines/`` drivers and CPU kernels by hand to measure against.
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
NO_BUILTIN_SOURCES = (ROOT / "arm" / "string.c",)
"""Compiled with -fno-builtin: they are what the compiler's builtins call."""
