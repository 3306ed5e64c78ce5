"""The state of a board that a client reaches: registers in windows, buffers, files, pins, and the fabric.

A client writes and reads nothing of this machine: files are a dictionary, memory is the simulated SoC's.
Every number and size that a client chooses has a limit here. One lock: the SoC has one bus master.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from axiloom.base.errors import AxiloomError, UsageError
from axiloom.cosim.blocks import Block
from axiloom.cosim.job import Result
from axiloom.cosim.live import Live, Ram
from axiloom.cosim.soc import Soc
from axiloom.library.live import Memory
from axiloom.virtual_board import handoff
from axiloom.virtual_board.address_map import AddressMap, Registers

FIRMWARE, MANAGER = "/lib/firmware/", "/sys/class/fpga_manager/fpga0/"
WRITABLE = (FIRMWARE, MANAGER, "/tmp/")
PIECE = 2 << 20
"""Bytes of a message of a stream."""
MOST_FILE_BYTES, MOST_FILES, MOST_ALL_FILES = 64 << 20, 256, 256 << 20
LONGEST_PATH = 256
MOST_BUFFERS = 4096
_WINDOW = re.compile("mmio-([0-9a-f]{1,16})-([0-9a-f]{1,9})")
MOST_WRITE = 64 << 10
"""Bytes of one write to registers."""
PINS, PINS_BASE = 118, 906
"""Of zynq_gpio: how many, and the first one's number for Linux."""
FIRST_POLL, LONGEST_POLL = 16, 10_000
"""Cycles that pass before a register is read again with nothing in between, doubled as long as nothing
happens: for a client they are a millisecond."""
AWAY_S, MOST_AWAY, STANDING = 0.003, 1_000_000, 2_000
"""After so long without a request the fabric has gone on, by at most so many cycles, until its streams have
stood for so many."""
SEEN = 8
"""Registers that a loop of a client may read in turns."""


class RefusedError(UsageError):
    """What a client asks for is not there, or too large."""


class Fabric:
    """The simulator behind the blocks in the fabric. It starts at the first access."""

    def __init__(self, soc: Soc) -> None:
        self.soc, self.ram = soc, Ram(soc.system.profile.ram_bytes)
        self._live: Live | None = None
        self._again: dict[int, int] = {}
        self._latest = time.monotonic()

    @property
    def live(self) -> Live:
        if self._live is None:
            self._live = Live(self.soc, self.ram)
        return self._live

    def read(self, address: int) -> int:
        """Time passes before a read that repeats another one, until something happens."""
        self.catch_up()
        step = self._again.get(address, 0)
        if step:
            before = self.live.cycle
            self.live.wait(0, step)
            step = min(2 * step, LONGEST_POLL) if self.live.cycle - before >= step else FIRST_POLL
        elif len(self._again) >= SEEN:
            self._again.clear()
        self._again[address] = step or FIRST_POLL
        value = self.live.read(address)
        self._latest = time.monotonic()
        return value

    def write(self, address: int, value: int) -> None:
        self.catch_up()
        self._again.clear()
        self.live.write(address, value)
        self._latest = time.monotonic()

    def catch_up(self) -> None:
        """A board goes on while its client is away."""
        away = time.monotonic() - self._latest
        if self._live is None or away < AWAY_S:
            return
        last, moved = None, self._moved()
        for _ in range(0, min(int(away * self.soc.system.profile.fabric_hz), MOST_AWAY), STANDING):
            if moved == last:
                break
            self._live.step(STANDING)
            last, moved = moved, self._moved()

    def _moved(self) -> list[bytes]:
        """The latest words of each stream."""
        return [
            self.live.stream(number, out=out, count=SEEN).tobytes()
            for number, _ in enumerate(self.soc.system.devices)
            for out in (False, True)
        ]

    def reset(self) -> Result | None:
        """As if the bitstream had come anew; what the session before gave. RAM stays."""
        self._again.clear()
        live, self._live = self._live, None
        return None if live is None else live.close()


@dataclass
class Pin:
    direction: str
    value: int = 0


@dataclass
class BoardState:
    """`blocks` of a design, simulated by `soc`."""

    soc: Soc
    blocks: Sequence[Block]
    design: str
    told: Callable[[str], None] = lambda _line: None
    """Gets one line on what a person at the server should know."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self.fabric = Fabric(self.soc)
        self.memory = Memory(self.fabric.ram.bytes)
        self._map = AddressMap.of(self.blocks, self.soc.system, self.fabric)
        self._buffers: dict[str, tuple[int, int]] = {}
        self._pins: dict[int, Pin] = {}
        self._count = 0
        profile = self.soc.system.profile
        machine = "armv7l" if profile.cpu == "cortex_a9" else "aarch64"
        self._files = {
            "/proc/version": f"Linux version 6.6.0 (simulated by Axiloom) {machine}\n".encode(),
            "/proc/device-tree/chosen/pynq_board": f"{self.soc.system.board_name}\0".encode(),
            MANAGER + "state": b"operating\n",
            MANAGER + "flags": b"0\n",
        }

    def unsimulated(self) -> list[Block]:
        return [block for block, behind in self._map.blocks if behind is None]

    # -- files --

    def exists(self, path: str) -> bool:
        """Firmware never does: a board would keep the old one of this name."""
        return path in self._files and not path.startswith(FIRMWARE)

    def read_file(self, path: str) -> bytes:
        if path not in self._files:
            raise RefusedError(f"this board has no file {path[:LONGEST_PATH]!r}")
        return self._files[path]

    def write_file(self, path: str, data: bytes) -> None:
        names = [name for name in path.split("/") if name in ("..", ".")]
        if names or len(path) > LONGEST_PATH or not path.startswith(WRITABLE) or "\0" in path:
            where = ", ".join(WRITABLE)
            raise RefusedError(f"this board keeps no file {path[:LONGEST_PATH]!r}: it keeps those in {where}")
        others = sum(len(held) for name, held in self._files.items() if name != path)
        if len(data) > MOST_FILE_BYTES or others + len(data) > MOST_ALL_FILES:
            raise RefusedError(f"{path!r}: {len(data):,} bytes are more than this board keeps")
        if path not in self._files and len(self._files) >= MOST_FILES:
            raise RefusedError(f"{path!r}: this board keeps {MOST_FILES} files, and has them")
        if path == MANAGER + "firmware":
            self._program(data)
        self._files[path] = data

    def _program(self, name: bytes) -> None:
        path = FIRMWARE + name.decode(errors="replace").strip()
        bitstream = self._files.get(path)
        if bitstream is None:
            raise RefusedError(f"no firmware {path!r}: write it first")
        theirs = handoff.design_of(bitstream)
        if theirs is not None and theirs != self.design:
            raise RefusedError(
                f"the bitstream is of the design {theirs!r}; this server simulates {self.design!r}: "
                "start one with that accelerator"
            )
        with suppress(AxiloomError):  # how the session before ended is no matter now
            self.fabric.reset()
        whose = "" if theirs else ", as if it were the one that is simulated"
        self.told(f"{path.removeprefix(FIRMWARE)} is in the fabric{whose}")

    # -- registers --

    def window(self, base: int, length: int) -> str:
        """Of `length` bytes: its key says where, so that nothing is kept of it. UsageError for what is not
        simulated."""
        self._at(base, length)
        return f"mmio-{base:x}-{length:x}"

    def _at(self, base: int, length: int) -> tuple[Registers, int]:
        if base % 4 or not 0 < length <= 1 << 32:
            raise RefusedError(f"no window of {length} bytes at {base:#x}")
        return self._map.at(base, length)

    def read(self, key: str, offset: int, length: int) -> int:
        registers, at = self._place(key, offset, 4)
        if length not in (1, 2, 4, 8):
            raise RefusedError(f"a read of {length} bytes: registers have 1, 2, 4 or 8")
        return registers.read(at) & (1 << 8 * min(length, 4)) - 1

    def write(self, key: str, offset: int, data: bytes) -> None:
        if len(data) % 4 or not 0 < len(data) <= MOST_WRITE:
            raise RefusedError(f"a write of {len(data)} bytes: whole words, and at most {MOST_WRITE:,} bytes")
        registers, at = self._place(key, offset, len(data))
        for i in range(0, len(data), 4):
            registers.write(at + i, int.from_bytes(data[i : i + 4], "little"))

    def _place(self, key: str, offset: int, size: int) -> tuple[Registers, int]:
        said = _WINDOW.fullmatch(key)
        if said is None:
            raise RefusedError(f"no window {key[:64]!r}")
        base, length = int(said[1], 16), int(said[2], 16)
        registers, at = self._at(base, length)
        if offset % 4 or not 0 <= offset <= length - size:
            raise RefusedError(f"offset {offset:#x} is no word of a window of {length} bytes")
        return registers, at + offset

    # -- buffers --

    def allocate(self, size: int) -> str:
        if size < 0 or len(self._buffers) >= MOST_BUFFERS:
            raise RefusedError(f"no buffer of {size} bytes, of which {len(self._buffers)} are there")
        address = self.memory.reserve(size)
        self.memory.ram[address : address + size] = 0
        self._count += 1
        key = f"buffer-{self._count}"
        self._buffers[key] = address, size
        return key

    def buffer(self, key: str) -> tuple[int, int]:
        """Address and bytes."""
        if key not in self._buffers:
            raise RefusedError(
                f"no buffer {key[:64]!r}: it was freed, or is of another session of this server"
            )
        return self._buffers[key]

    def free(self, key: str) -> None:
        address, _ = self.buffer(key)
        del self._buffers[key]
        self.memory.release(address)

    def store(self, key: str, at: int, data: bytes) -> None:
        address, size = self.buffer(key)
        if not 0 <= at <= size - len(data):
            raise RefusedError(f"{len(data)} bytes at {at} leave a buffer of {size}")
        self.memory.write_bytes(address + at, data)

    def load(self, key: str, begin: int, end: int) -> Iterator[bytes]:
        """Piece by piece; `end` 0: all from `begin` on."""
        address, size = self.buffer(key)
        end = end or size
        if not 0 <= begin <= end <= size:
            raise RefusedError(f"bytes {begin} to {end} leave a buffer of {size}")
        self.fabric.catch_up()
        for at in range(begin, max(end, begin + 1), PIECE):
            yield self.memory.ram[address + at : address + min(at + PIECE, end)].tobytes()

    # -- pins of the processing system --

    def pin(self, index: int, direction: str) -> str:
        if direction not in ("in", "out"):
            raise RefusedError(f"a pin is 'in' or 'out', not {direction[:16]!r}")
        if not PINS_BASE <= index < PINS_BASE + PINS:
            raise RefusedError(f"no pin {index}: there are {PINS_BASE} to {PINS_BASE + PINS - 1}")
        before = self._pins.get(index)
        self._pins[index] = Pin(direction, before.value if before else 0)
        return f"pin-{index}"

    def pin_of(self, key: str) -> Pin:
        index = int(key[4:]) if key.startswith("pin-") and key[4:].isdecimal() and len(key) < 16 else -1
        if index not in self._pins:
            raise RefusedError(f"no pin {key[:64]!r} is exported")
        return self._pins[index]

    def release_pin(self, key: str) -> None:
        self.pin_of(key)
        del self._pins[int(key[4:])]

    def has_pin(self, key: str) -> bool:
        try:
            return bool(self.pin_of(key))
        except RefusedError:
            return False

    def close(self) -> Result | None:
        """The end; what the simulated session gave."""
        return self.fabric.reset()
