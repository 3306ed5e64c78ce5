"""The other end of gdb's remote protocol, as far as tests need it: packets, registers, memory, stops."""

from __future__ import annotations

import socket
import struct
import time
from types import TracebackType

Words = tuple[int, ...]


def _connection(port: int, timeout_s: float) -> socket.socket:
    """The debugger listens when the simulator has started; gdb tries again, too."""
    end = time.monotonic() + timeout_s
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout_s)
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


class Client:
    """gdb, in Python. Registers are the 17 of a Cortex-A9: r0 to r15 and CPSR."""

    def __init__(self, port: int, timeout_s: float = 60.0) -> None:
        self._socket = _connection(port, timeout_s)
        self._input = b""
        self.output = ""
        """What the program, or the debugger, has printed."""
        self.features = self.ask("qSupported:swbreak+").split(";")
        answer = self.ask("QStartNoAckMode")
        assert answer == "OK", answer
        self._acknowledges = False

    _acknowledges = True

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def send(self, payload: str | bytes) -> None:
        data = payload.encode() if isinstance(payload, str) else payload
        self._socket.sendall(b"$%s#%02x" % (data, sum(data) & 0xFF))

    def _byte(self) -> bytes:
        if not self._input:
            self._input = self._socket.recv(65536)
            if not self._input:
                raise EOFError
        byte, self._input = self._input[:1], self._input[1:]
        return byte

    def receive(self) -> str:
        while self._byte() != b"$":
            pass
        data = b""
        while (byte := self._byte()) != b"#":
            data += bytes([self._byte()[0] ^ 0x20]) if byte == b"}" else byte
        assert int(self._byte() + self._byte(), 16) >= 0
        if self._acknowledges:
            self._socket.sendall(b"+")
        return data.decode()

    def ask(self, payload: str | bytes) -> str:
        self.send(payload)
        return self.receive()

    def monitor(self, command: str) -> str:
        answer = self.ask("qRcmd," + command.encode().hex())
        return "" if answer == "OK" else bytes.fromhex(answer).decode().rstrip("\n")

    # -- the program --

    def stop(self) -> str:
        """The next stop; what is printed until then goes to `output`."""
        while (answer := self.receive()).startswith("O") and answer != "OK":
            self.output += bytes.fromhex(answer[1:]).decode()
        return answer

    def go(self, how: str = "vCont;c") -> str:
        self.send(how)
        return self.stop()

    def step(self) -> str:
        return self.go("vCont;s:1")

    def interrupt(self, after_s: float = 0.3) -> str:
        self.send("vCont;c")
        time.sleep(after_s)
        self._socket.sendall(b"\x03")
        return self.stop()

    def registers(self) -> Words:
        return struct.unpack("<17I", bytes.fromhex(self.ask("g"))[:68])

    @property
    def pc(self) -> int:
        return self.registers()[15]

    def read(self, address: int, size: int) -> bytes:
        answer = self.ask(f"m{address:x},{size:x}")
        assert not answer.startswith("E"), answer
        return bytes.fromhex(answer)

    def word(self, address: int) -> int:
        return int.from_bytes(self.read(address, 4), "little")

    def write(self, address: int, data: bytes) -> str:
        return self.ask(f"M{address:x},{len(data):x}:{data.hex()}")

    def point(self, kind: int, address: int, size: int = 4, *, on: bool = True) -> None:
        assert self.ask(f"{'Z' if on else 'z'}{kind},{address:x},{size:x}") == "OK"
