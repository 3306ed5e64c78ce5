"""The host of a board on a serial line: its port, and the bridge's commands.

::

    with SerialPort("/dev/ttyUSB0", 3_000_000) as port:
        bridge = Bridge(port)
        bridge.check(spec)
        bridge.write(0x16000000, words)
        print(hex(bridge.read(0x40400004, 1)[0]))

A simulated board (:mod:`axiloom.cosim.serial_board`) has such a port too. The protocol is that of
:mod:`axiloom.hw.serial.protocol`.
"""

from __future__ import annotations

import os
import select
import termios
import time
from dataclasses import dataclass
from types import TracebackType

import numpy as np
import numpy.typing as npt

from axiloom.base.errors import DriverError, UsageError
from axiloom.hw.serial.protocol import (
    IDENTITY_ADDRESS,
    LOST_BYTE,
    MAGIC,
    READ,
    TIMEOUT_BITS,
    WRITE,
    identity,
)
from axiloom.isa import AcceleratorSpec

Words = npt.NDArray[np.uint32]

PATIENCE_S = 10.0
"""A board that does not answer for so long is not there."""
CHUNK = 4096
"""Words of one command: a board's answer is never further away than so many words on the line."""
_RESPONSES = {2: "SLVERR", 3: "DECERR: nothing is at this address"}
_GARBAGE = bytes(16)
"""Longer than the arguments of a command; no byte of it is a command."""
_FORGOTTEN_S = 1.2 * 2**TIMEOUT_BITS / 12.5e6
"""Until a bridge has forgotten a command that is not whole, at the slowest clock that a board can have."""


class SerialPort:
    """A serial port with 8 data bits, no parity, one stop bit, no flow control; a context manager.

    Raises :exc:`UsageError` for a port that is not there or a speed that this system has no name for.
    """

    def __init__(self, path: str, baud: int, patience_s: float = PATIENCE_S) -> None:
        speed = getattr(termios, f"B{baud}", None)
        if speed is None:
            raise UsageError(f"{path}: this system has no serial speed of {baud} baud")
        self.path = path
        self.patience_s = patience_s
        self._file = -1
        try:
            self._file = os.open(path, os.O_RDWR | os.O_NOCTTY)
            # Input and output untouched, no echo, no signals, a read returns what there is.
            control = [0] * len(termios.tcgetattr(self._file)[6])
            local = termios.CS8 | termios.CREAD | termios.CLOCAL
            termios.tcsetattr(self._file, termios.TCSANOW, [0, 0, local, 0, speed, speed, control])
        except (OSError, termios.error) as error:
            if self._file >= 0:
                os.close(self._file)
            raise UsageError(f"{path}: no serial port that can be opened: {error.args[-1]}") from None

    def write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise self._gone(error) from None

    def read(self, count: int) -> bytes:
        """Exactly `count` bytes. Raises :exc:`DriverError` if none comes for `patience_s`."""
        got = b""
        while len(got) < count:
            ready, _, _ = select.select([self._file], [], [], self.patience_s)
            try:
                part = os.read(self._file, count - len(got)) if ready else b""
            except OSError as error:
                raise self._gone(error) from None
            if not part:
                raise DriverError(
                    f"{self.path}: the board does not answer ({len(got)} of {count} bytes within "
                    f"{self.patience_s:g} s): is it programmed, and is this its port?"
                )
            got += part
        return got

    def drain(self) -> None:
        """Forget the bytes that have come so far."""
        while select.select([self._file], [], [], 0)[0] and os.read(self._file, 4096):
            continue

    def _gone(self, error: OSError) -> DriverError:
        return DriverError(f"{self.path}: the port is gone: {error.strerror}")

    def close(self) -> None:
        os.close(self._file)

    def __enter__(self) -> SerialPort:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass
class Traffic:
    """Counts of what went over the line: commands, and words each way."""

    commands: int = 0
    words_out: int = 0
    words_in: int = 0


class Bridge:
    """Words at addresses of the board.

    Every answer is checked: a sum that does not fit raises :exc:`DriverError`, as does an address of nothing.
    """

    def __init__(self, port: SerialPort) -> None:
        self._port = port
        self.traffic = Traffic()
        # Whatever command a host before us left unfinished ends here.
        port.write(_GARBAGE)
        time.sleep(_FORGOTTEN_S)
        port.drain()

    def write(self, address: int, words: npt.ArrayLike) -> None:
        """Write `words` from the byte address `address` on."""
        every = np.ascontiguousarray(words, dtype=np.uint32).ravel()
        for at in range(0, every.size, CHUNK):
            part = every[at : at + CHUNK]
            command = _command(WRITE, address + 4 * at, part.size) + part.astype("<u4").tobytes()
            self._port.write(command)
            self.traffic.commands += 1
            self.traffic.words_out += part.size
            self._check(command, self._port.read(2), f"write of {part.size} words", address + 4 * at)

    def read(self, address: int, count: int) -> Words:
        """`count` words from the byte address `address` on."""
        parts = []
        for at in range(0, count, CHUNK):
            size = min(CHUNK, count - at)
            command = _command(READ, address + 4 * at, size)
            self._port.write(command)
            answer = self._port.read(4 * size + 2)
            self.traffic.commands += 1
            self.traffic.words_in += size
            self._check(command + answer[:-2], answer[-2:], f"read of {size} words", address + 4 * at)
            parts.append(np.frombuffer(answer[:-2], dtype="<u4").astype(np.uint32))
        return np.concatenate(parts) if parts else np.empty(0, np.uint32)

    def check(self, spec: AcceleratorSpec) -> int:
        """That the board has the accelerator of `spec`; returns its clock in Hz.

        Raises :exc:`DriverError` if it has another one, or is no board of ours.
        """
        words = [int(word) for word in self.read(IDENTITY_ADDRESS, 4)]
        wanted = identity(spec, words[3])
        if words[0] != MAGIC:
            raise DriverError(f"{self._port.path}: no board of Axiloom: its first word is {words[0]:#010x}")
        if words[1:3] != list(wanted[1:3]):
            raise DriverError(
                f"{self._port.path}: the board was built for another specification than {spec.name}: build "
                "and load the bitstream of this one"
            )
        return words[3]

    def _check(self, sent: bytes, end: bytes, what: str, address: int) -> None:
        status, total = end
        where = f"{self._port.path}: {what} at {address:#010x}"
        if total != sum(sent) % 256 or status & LOST_BYTE:
            raise DriverError(f"{where}: bytes were changed or lost on the line")
        if status:
            raise DriverError(f"{where}: {_RESPONSES.get(status & 3, f'status {status:#x}')}")


def _command(kind: int, address: int, count: int) -> bytes:
    return bytes([kind]) + address.to_bytes(4, "little") + count.to_bytes(2, "little")
