"""A simulated SoC that does what this process asks for, step by step.

The simulator is a process of its own, as for a program; in place of the program a mailbox stands in the CPU
(``native/cpu/live.cpp``). It takes requests from a socket: while nobody asks, simulated time stands still.
RAM is memory that both processes map.
"""

from __future__ import annotations

import math
import mmap
import os
import pickle
import socket
import subprocess
import threading
import weakref
from contextlib import ExitStack, suppress
from ctypes import sizeof
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from axiloom.base import processes
from axiloom.base.errors import AxiloomError, DriverError, SimulatorError, UsageError
from axiloom.cosim import native
from axiloom.cosim.blocks import KINDS
from axiloom.cosim.build.process import Ended
from axiloom.cosim.job import ERROR_FILE, FROM_SESSION, Job, Result
from axiloom.cosim.soc import Soc, raise_failure

Array = np.ndarray[Any, Any]

_OPS = native.numbers("axl_live_op", "AXL_LIVE_")
_REFUSED, WORDS = (native.numbers("axl_live", "AXL_LIVE_")[name] for name in ("REFUSED", "WORDS"))
_RESPONSES = {1: "EXOKAY", 2: "SLVERR", 3: "DECERR"}


class Ram:
    """Memory that this process and simulators have in common. Zero at first."""

    def __init__(self, size: int) -> None:
        self.descriptor = os.memfd_create("axiloom-ram", os.MFD_CLOEXEC)
        weakref.finalize(self, os.close, self.descriptor)
        os.ftruncate(self.descriptor, size)
        self.bytes: Array = np.frombuffer(mmap.mmap(self.descriptor, size), np.uint8)
        """All of it: address is index."""


@dataclass(frozen=True)
class Element:
    """A register of the RTL, or a memory of so many words."""

    number: int
    bits: int
    words: int
    """0: a register."""


class Live:
    """`soc`, started; :meth:`close` ends it. One thread at a time asks, others wait. If `soc` was made with
    `inspect`, the RTL's state can be read.

    Each request raises what ends the simulation meanwhile: `HangError` with the diagnosis when the watchdog
    has seen no progress, `DriverError`, `ProtocolError`; from then on every request raises the same.

    `ram`: of a session before, as it was left; by default zeros.
    """

    def __init__(self, soc: Soc, ram: Ram | None = None) -> None:
        self.soc = soc
        self.cycle = 0
        """Of the fabric, at the last answer."""
        self.lines = 0
        """Interrupt lines then: bits of IRQ_F2P, as the blocks of the system have them."""
        self.result: Result | None = None
        """After the end."""
        self._error: AxiloomError | None = None
        self._lock = threading.RLock()
        soc.build()
        self.ram = ram or Ram(soc.system.profile.ram_bytes)
        """Shared with the DMA."""
        with ExitStack() as stack:
            self._folder = stack.enter_context(processes.scratch("axiloom-live-"))
            ours, theirs = socket.socketpair()
            stack.callback(ours.close)
            try:
                shared = (theirs.fileno(), self.ram.descriptor)
                job = Job(Path("live session"), live=shared, timeout_s=math.inf)
                command, env = soc.prepare(self._folder, [job], check=True)
                with (self._folder / "output.txt").open("wb") as output:
                    self._process = processes.start(
                        command,
                        env=env,
                        cwd=self._folder,
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=subprocess.STDOUT,
                        pass_fds=shared,
                    )
            finally:
                theirs.close()
            stack.callback(processes.stop, self._process)
            self._socket = ours
            self._stack = stack.pop_all()

    # -- requests --

    def read(self, address: int) -> int:
        """32 bits of a register, over AXI. DriverError where nothing is, or for an error response."""
        return self._access("read of", "READ", address, 0)

    def write(self, address: int, value: int) -> None:
        self._access("write to", "WRITE", address, value & 0xFFFF_FFFF)

    def step(self, cycles: int) -> None:
        """Let so many cycles of the fabric pass, and two at least."""
        self._ask("PASS", cycles=cycles)

    def wait(self, lines: int, cycles: int) -> None:
        """At most so many cycles: until one of the interrupt `lines` is high; 0: until a line changes, or a
        DMA begins or ends a transfer. Cycles without progress are for the watchdog."""
        self._ask("WAIT", value=lines, cycles=cycles)

    def stream(self, accelerator: int, *, out: bool, count: int) -> Array:
        """The last words, at most `count` and `WORDS`, into an accelerator or out of it; oldest first."""
        _, more = self._ask("STREAM", 2 * accelerator + out, count)
        return np.frombuffer(more, np.uint32)

    def says(self, accelerator: int) -> str:
        """Where both streams stand: :meth:`axiloom.cosim.core.Core.protocol_text`."""
        return self._ask("SAYS", accelerator)[1].decode()

    def pins(self, base: int, port: int, levels: int | None = None) -> int:
        """What stands on a port of the neighbour at `base`, once somebody outside has put `levels` there."""
        op = "PINS" if levels is None else "DRIVE"
        return int(self._ask(op, base, levels or 0, port=port)[0].value)

    @cached_property
    def elements(self) -> dict[str, Element]:
        """Registers and memories of the RTL, by their names below the SoC."""
        lines = self._ask("NAMES")[1].decode().splitlines()
        rows = [line.split(" ", 2) for line in lines]
        return {name: Element(i, int(bits), int(count)) for i, (count, bits, name) in enumerate(rows)}

    def element(self, name: str) -> Element:
        """... by a name, or by the end of a single one behind a point."""
        fitting = [full for full in self.elements if full == name or full.endswith(f".{name}")]
        if name in fitting or len(fitting) == 1:
            return self.elements[name if name in fitting else fitting[0]]
        if fitting:
            raise UsageError(f"{name!r} is the end of several names: {', '.join(fitting)}")
        near = get_close_matches(name, {full.rpartition(".")[2] for full in self.elements}, 3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise UsageError(f"the RTL has no register or memory {name!r}{hint}")

    def state(self, element: Element) -> Array:
        """(words, parts) uint32: each word's parts of 32 bits, lowest first; a register is a word. X is 0."""
        _, more = self._ask("STATE", element.number, 0, max(element.words, 1))
        return np.frombuffer(more, np.uint32).reshape(-1, -(-element.bits // 32))

    def until(self, element: Element, word: int, value: int, cycles: int) -> bool:
        """At most so many cycles: until a word of an element was `value`; whether it was."""
        return bool(self._ask("UNTIL", element.number, value, cycles, port=word)[0].value)

    def close(self) -> Result | None:
        """The end, in order. What was counted; None where the simulation had failed before."""
        with self._lock:
            if self._error is None and self.result is None:
                with suppress(OSError):  # it may have ended by itself
                    self._socket.sendall(bytes(native.LiveRequest(_OPS["END"])))
                self._finish()
            return self.result

    # -- inside --

    def _access(self, what: str, op: str, address: int, value: int) -> int:
        answer, _ = self._ask(op, address & 0xFFFF_FFFF, value)
        if not answer.failed:
            return int(answer.value)
        if answer.failed == _REFUSED:
            raise DriverError(f"{what} {address:#010x}: {self._what_is_there(address)}")
        raise DriverError(f"{what} {address:#010x}: the device answers {_RESPONSES[answer.failed]}")

    def _what_is_there(self, address: int) -> str:
        if address % 4:
            return "registers are read and written as aligned 32-bit words"
        pages = [block.base for block in self.soc.system.blocks if block.ip in KINDS]
        if address < self.ram.bytes.size:
            return "this is RAM: `memory` has it"
        return "nothing is mapped there; registers begin at " + ", ".join(f"{page:#010x}" for page in pages)

    def _ask(
        self, op: str, address: int = 0, value: int = 0, cycles: int = 0, port: int = 0
    ) -> tuple[native.LiveAnswer, bytes]:
        with self._lock:
            if self._error is not None:
                raise self._error
            if self.result is not None:
                raise UsageError("this session of the simulated SoC has ended")
            try:
                self._socket.sendall(bytes(native.LiveRequest(_OPS[op], address, value, port, cycles)))
                answer = native.LiveAnswer.from_buffer_copy(self._take(sizeof(native.LiveAnswer)))
                more = self._take(answer.bytes)
            except (ConnectionError, EOFError):
                self._finish()
                assert self._error is not None
                raise self._error from None
            except BaseException:  # an interrupt in the middle of an answer: the next would be misread
                self._error = UsageError("this session of the simulated SoC was interrupted, and has ended")
                self._stack.close()
                raise
            self.cycle, self.lines = int(answer.cycle), int(answer.lines)
            return answer, more

    def _take(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    def _finish(self) -> None:
        """The process ends, or has ended: what does its result say?"""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
        code = self._process.wait()
        try:
            result, error = self._folder / FROM_SESSION.format(0), self._folder / ERROR_FILE
            if result.exists():
                self.result = pickle.loads(result.read_bytes())
                raise_failure(self.result)
                return
            if error.exists():
                raise pickle.loads(error.read_bytes())
            said = (self._folder / "output.txt").read_text(errors="replace")
            raise SimulatorError(f"live session: the simulator {Ended(code, said).describe()}")
        except AxiloomError as error:
            self._error = error
        finally:
            self._stack.close()
