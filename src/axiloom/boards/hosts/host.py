"""What a CPU is, to everything that compiles for it, loads its programs and sets up its simulation.

An entry is a file in ``hosts/`` with a :class:`Host` named ``HOST``. The simulated core has its counterpart
in ``cosim/native/hosts``, under the same name; its start-up code is a folder of ``sw/``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from axiloom import sw
from axiloom.base.errors import UsageError


@dataclass(frozen=True)
class Executable:
    """ELF files that run on it (names of pyelftools)."""

    machine: str
    bits: int
    refused: Mapping[int, str] = field(default_factory=dict)
    """Bits of the header's flags to what the program then needs and the CPU lacks."""


@dataclass(frozen=True)
class Freestanding:
    """How programs on bare metal are built: `flags` of zig's C compiler, and what is linked with them."""

    flags: tuple[str, ...]
    folder: str
    """In ``sw/``: start.S, platform.c and link.ld."""
    strings: Path
    """<string.h> for a compiler that brings none; compiled with -fno-builtin."""
    include: tuple[Path, ...]

    @property
    def sources(self) -> tuple[Path, ...]:
        """Start-up code, platform and runtime."""
        return (sw.ROOT / self.folder / "start.S", sw.ROOT / self.folder / "platform.c", *sw.RUNTIME)

    @property
    def script(self) -> Path:
        return sw.ROOT / self.folder / "link.ld"


@dataclass(frozen=True)
class Linux:
    """How static Linux programs are built, and where the numbers of system calls have names."""

    flags: tuple[str, ...]
    calls: str
    """A header, below zig's ``lib/libc/include``."""


@dataclass(frozen=True)
class Host:
    """A CPU that drivers run on."""

    name: str
    """As boards' profiles and the simulated core call it."""
    title: str
    architecture: str
    """Of its programs: hosts that share one run the same ones."""
    line_bytes: int
    """Of a line of any of its caches."""
    executable: Executable
    bare: Freestanding
    linux: Linux | None = None
    """None: it runs bare metal only."""
    kernels: tuple[str, ...] = ("loops",)
    """That run on it without an accelerator: plain ``loops``, and ``neon`` by hand."""
    cache_levels: int = 2
    """1: only L1I and L1D."""
    on_chip_bytes: int = 0
    """Memory on the chip, from address 0, that the second level does not cache."""
    fixed_attributes: bool = False
    """Which memory it caches the chip decides: it is in the board's profile. Else the program decides."""

    @property
    def bits(self) -> int:
        return self.executable.bits

    def check_kernel(self, kernel: str) -> None:
        """UsageError where the CPU's own `kernel` does not run on it."""
        if kernel not in self.kernels:
            raise UsageError(
                f"{kernel.upper()} kernels do not run on {self}: compare with plain loops (--against cpu)"
            )

    def check_linux(self) -> None:
        """UsageError where no Linux programs run on it."""
        if self.linux is None:
            raise UsageError(f"no Linux programs run on {self}: it is for bare metal (leave --os linux out)")

    def __str__(self) -> str:
        return f"{self.title} ({self.architecture})"
