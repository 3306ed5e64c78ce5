"""A client of the server's protocol, with the messages of our own .proto files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import grpc
import numpy as np

from axiloom.virtual_board.board import PIECE, BoardState
from axiloom.virtual_board.service import SERVICES, serve


class Client:
    """``client.mmio.read(...)`` and so on: fields by keyword, the answer's message back."""

    def __init__(self, channel: Any) -> None:
        self.channel = channel
        for kind in SERVICES:
            proto = kind(None).proto  # type: ignore[arg-type]
            (service,) = proto.DESCRIPTOR.services_by_name.values()
            methods = {m.name: self._method(proto, service.full_name, m) for m in service.methods}
            setattr(self, kind.file, SimpleNamespace(**methods))

    def _method(self, proto: Any, service: str, method: Any) -> Any:
        asked, answer = (getattr(proto, kind.name) for kind in (method.input_type, method.output_type))
        kinds = {(False, False): "unary_unary", (False, True): "unary_stream", (True, False): "stream_unary"}
        call = getattr(self.channel, kinds[method.client_streaming, method.server_streaming])(
            f"/{service}/{method.name}", asked.SerializeToString, answer.FromString
        )

        def function(*pieces: dict[str, Any], **fields: Any) -> Any:
            if method.client_streaming:
                return call(iter([asked(**piece) for piece in pieces]), timeout=60)
            result = call(asked(**fields), timeout=60)
            return [*result] if method.server_streaming else result

        return function

    # -- as PYNQ's client does --

    def window(self, base: int, length: int = 0x1000) -> Any:
        answer = self.mmio.get_mmio(base_addr=base, length=length)
        if answer.msg:
            raise RuntimeError(answer.msg)
        return answer.mmio_id

    def get(self, window: str, offset: int) -> int:
        answer = self.mmio.read(mmio_id=window, offset=offset, length=4)
        if answer.msg:
            raise RuntimeError(answer.msg)
        return int(answer.data)

    def set(self, window: str, offset: int, value: int) -> None:
        answer = self.mmio.write(mmio_id=window, offset=offset, data=value.to_bytes(4, "little"))
        if answer.msg:
            raise RuntimeError(answer.msg)

    def put(self, buffer: str, array: np.ndarray) -> None:
        data = array.tobytes()
        self.buffer.write(
            *({"buffer_id": buffer, "data": data[at : at + PIECE]} for at in range(0, len(data), PIECE))
        )

    def fetch(self, buffer: str, dtype: Any) -> np.ndarray:
        return np.frombuffer(b"".join(a.data for a in self.buffer.read(buffer_id=buffer)), dtype)

    def put_file(self, path: str, data: bytes) -> None:
        self.remote_device.writefile({"file_path": path, "data": data})


@contextmanager
def connected(board: BoardState) -> Iterator[Client]:
    """A server of the board at a free port of this machine, and a client of it."""
    server = serve(board, "127.0.0.1:0")
    try:
        with grpc.insecure_channel(f"127.0.0.1:{server.axiloom_port}") as channel:
            yield Client(channel)
    finally:
        server.stop(0).wait()
        board.close()
