"""Linux processes on the simulated SoC: the files that they find, where they lie, and names of system calls.

There is no kernel: the core answers the few calls that a driver makes (``native/cpu/process.hpp``). The files
here are those of the devices that the overlay of :func:`axiloom.boards.device_tree.overlay` describes.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from axiloom import sw
from axiloom.base.errors import DriverError
from axiloom.boards.hosts.host import Host
from axiloom.cosim.elf import Program
from axiloom.cosim.lines import Source
from axiloom.isa import AcceleratorSpec
from axiloom.isa.files.together import PAGE_BYTES

TEXT, MAP, SYNC_DEVICE, SYNC_CPU, UIO, HEAP, PAGEMAP, SETTING = range(8)
"""Kinds of files: AXL_FILE_*."""

STACK_BYTES = 0x40000
MOST_TEXT = 0x4000
"""Bytes of a program's arguments."""
_PAGE = 4096
_GAP = 1 << 20
_DEV_MEM_BYTES = 1 << 32
_HEAPS = ("reserved", "linux,cma", "default_cma_region")
"""Names that kernels have given to the heap of memory in one piece."""
_CALLED = re.compile(r", called at (0x[0-9A-F]{8})")
_NUMBERED = re.compile(r"system call (\d+) at")
_NAME = re.compile(r"#define\s+__NR_(\w+)\s+\(?(?:__NR_SYSCALL_BASE\s*\+\s*)?(\d+)\)?")


@dataclass(frozen=True)
class File:
    """What a process finds at `path`; `text` to read, or memory from `address`."""

    path: str
    kind: int
    text: str = ""
    address: int = 0
    size: int = 0
    irq: int = 0
    """UIO: the lines of the fabric's interrupts that are its own, a bit each."""


DEVICES = ("uio", "udmabuf")
"""What a board's device tree may have or lack; /dev/mem is always there."""


def files(specs: Sequence[AcceleratorSpec], ram_bytes: int, devices: Sequence[str] = DEVICES) -> list[File]:
    """UIO for each DMA, with the interrupt of S2MM, then for that of each MM2S; u-dma-buf for the reserved
    region; dma-heap; /dev/mem.
    """
    place, size = sw.LINUX_REGION_ADDRESS, sw.LINUX_REGION_BYTES
    if ram_bytes < place + size:
        raise DriverError(f"the region that Linux reserves for DMAs ends behind RAM ({ram_bytes:,} bytes)")
    buffer = "/sys/class/u-dma-buf/udmabuf0"
    nodes = [File("/dev/mem", MAP, size=_DEV_MEM_BYTES), File("/proc/self/pagemap", PAGEMAP)]
    nodes += [File(f"/dev/dma_heap/{name}", HEAP) for name in _HEAPS]
    nodes += [
        File("/dev/udmabuf0", MAP, "", place, size),
        File(f"{buffer}/phys_addr", TEXT, f"0x{place:016x}\n"),
        File(f"{buffer}/size", TEXT, f"{size}\n"),
        File(f"{buffer}/sync_for_device", SYNC_DEVICE, "", place, size),
        File(f"{buffer}/sync_for_cpu", SYNC_CPU, "", place, size),
        File(f"{buffer}/sync_offset", SETTING, "0"),
        File(f"{buffer}/sync_size", SETTING, str(size)),
        File(f"{buffer}/sync_direction", SETTING, "0"),
        File(f"{buffer}/sync_mode", SETTING, "2"),
    ] * ("udmabuf" in devices)
    dmas = list(enumerate(specs if "uio" in devices else ()))
    for number, spec in dmas:
        about = f"/sys/class/uio/uio{number}"
        s2mm = 2 << 2 * number
        nodes += [
            File(f"/dev/uio{number}", UIO, "", spec.link.dma.address, PAGE_BYTES, s2mm),
            File(f"{about}/name", TEXT, f"axiloom-dma{number}\n"),
            File(f"{about}/maps/map0/addr", TEXT, f"0x{spec.link.dma.address:08x}\n"),
            File(f"{about}/maps/map0/size", TEXT, f"0x{PAGE_BYTES:08x}\n"),
            File(f"{about}/maps/map0/offset", TEXT, "0x0\n"),
        ]
    for number, _ in dmas:
        at, mm2s = len(dmas) + number, 1 << 2 * number
        nodes += [
            File(f"/dev/uio{at}", UIO, irq=mm2s),
            File(f"/sys/class/uio/uio{at}/name", TEXT, f"axiloom-dma{number}-mm2s\n"),
        ]
    return nodes


def stack_of(program: Program) -> tuple[int, int, int]:
    """Lowest address and top of the stack, and where other memory of the process may begin.

    Below the program where there is room, else below the reserved region. The first MiB stays free: parts of
    it are on-chip memory, which is slower.
    """
    top = program.begin & ~(_GAP - 1)
    low = _GAP
    if top < 32 * _GAP:
        top, low = sw.LINUX_REGION_ADDRESS, -(-program.end // _GAP) * _GAP + 16 * _GAP
    if top - low < 2 * STACK_BYTES:
        raise DriverError(
            f"{program.path.name}: no room for a stack beside the program, which fills memory from "
            f"0x{program.begin:08X} to 0x{program.end:08X}"
        )
    return top - STACK_BYTES, top, low


def texts(arguments: Sequence[str]) -> bytes:
    """argv as it lies in memory, behind the program's name. DriverError for what is too long, or no text."""
    data = b"".join(word.encode() + b"\0" for word in ("driver", *arguments))
    if len(data) > MOST_TEXT or data.count(b"\0") > 1 + len(arguments):
        raise DriverError(f"arguments of {len(data):,} bytes: at most {MOST_TEXT:,}, and none has a 0 in it")
    return data


def with_names(text: str, host: Host) -> str:
    """A fault's text on `host`, with a system call's name beside its number."""

    def named(match: re.Match[str]) -> str:
        name = _calls(host.linux.calls if host.linux else "").get(int(match[1]))
        return f"system call {match[1]} ({name}) at" if name else match[0]

    return _NUMBERED.sub(named, text)


def with_places(text: str, source: Source) -> str:
    """What threads wait for, with the line of each call, or its function."""
    return _CALLED.sub(lambda match: f", called at {source.place(int(match[1], 16), 0)}", text)


@cache
def _calls(header: str) -> dict[int, str]:
    """Number to name, from a header that comes with the cross compiler; empty where they are not there."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        return {}
    return dict(_defined(Path(spec.origin).parent / "lib" / "libc" / "include" / header))


def _defined(header: Path) -> Iterator[tuple[int, str]]:
    if not header.is_file():
        return
    for match in _NAME.finditer(header.read_text(encoding="utf-8")):
        yield int(match[2]), match[1]
