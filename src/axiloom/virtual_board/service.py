"""The protocol of PYNQ's remote mode: gRPC, without a login, as a board speaks it.

Errors are a text in the answer where PYNQ's client looks for one, and a gRPC status elsewhere.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from axiloom.base import extras
from axiloom.base.errors import AxiloomError, UsageError
from axiloom.virtual_board.board import (
    MOST_ALL_FILES,
    MOST_FILE_BYTES,
    PIECE,
    PINS,
    PINS_BASE,
    BoardState,
    RefusedError,
)

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # it tells more than one line of an address in use
try:
    import grpc
except ImportError:  # an extra
    grpc = None

PORT = 7967
"""PYNQ's clients know this one alone."""
LOOPBACK = "127.0.0.1"
THREADS, MOST_REQUESTS = 16, 64
STREAMS = THREADS // 2
"""At once: other requests always find a thread."""
MOST_CONNECTIONS, HANDSHAKE_MS = 256, 10_000
STREAM_S = 60.0
"""After so long a stream is given up: each holds a thread."""
MOST_MESSAGE_BYTES = 2 * PIECE
_PROTO = "axiloom/virtual_board/proto/{}.proto"


class _Service:
    """A service of a .proto `file`: a method for each of its RPCs."""

    file = ""

    def __init__(self, board: BoardState) -> None:
        self.board = board
        self.proto = grpc.protos(_PROTO.format(self.file))


class RemoteDevice(_Service):
    file = "remote_device"
    _coming = 0
    """Bytes of files whose stream has not ended."""

    def set_bitstream_attrs(self, _request: Any) -> Any:
        return self.proto.SetBitstreamAttrsResponse(status=True)

    def existsfile(self, request: Any) -> Any:
        return self.proto.ExistsFileResponse(exists=self.board.exists(request.file_path))

    def readfile(self, request: Any) -> Iterator[Any]:
        data = self.board.read_file(request.file_path)
        for at in range(0, max(len(data), 1), PIECE):
            yield self.proto.ReadFileResponse(data=data[at : at + PIECE])

    def writefile(self, requests: Iterator[Any]) -> Any:
        path, data = "", bytearray()
        try:
            for request in requests:
                path = path or request.file_path
                data += request.data
                with self.board.lock:
                    self._coming += len(request.data)
                if len(data) > MOST_FILE_BYTES:
                    raise RefusedError(f"{path[:64]!r}: more than {MOST_FILE_BYTES:,} bytes")
                if self._coming > MOST_ALL_FILES:
                    raise RefusedError(f"{path[:64]!r}: more than {MOST_ALL_FILES:,} bytes come at once")
            with self.board.lock:
                self.board.write_file(path, bytes(data))
        finally:
            with self.board.lock:
                self._coming -= len(data)
        return self.proto.WriteFileResponse()


class Mmio(_Service):
    file = "mmio"

    def get_mmio(self, request: Any) -> Any:
        key = self.board.window(request.base_addr, request.length)
        return self.proto.GetMmioResponse(status=True, mmio_id=key)

    def read(self, request: Any) -> Any:
        value = self.board.read(request.mmio_id, request.offset, request.length)
        return self.proto.ReadResponse(status=True, data=value)

    def write(self, request: Any) -> Any:
        self.board.write(request.mmio_id, request.offset, request.data)
        return self.proto.WriteResponse(status=True)


class RemoteBuffer(_Service):
    """There are no caches between a buffer and the DMA: what a client writes is in memory."""

    file = "buffer"

    def allocate(self, request: Any) -> Any:
        return self.proto.AllocateResponse(buffer_id=self.board.allocate(request.size))

    def write(self, requests: Iterator[Any]) -> Any:
        at: int | None = None
        for request in requests:  # each goes on where the one before has ended: the client says no places
            at = request.start if at is None else at
            with self.board.lock:
                self.board.store(request.buffer_id, at, request.data)
            at += len(request.data)
        return self.proto.BufferWriteResponse()

    def read(self, request: Any) -> Iterator[Any]:
        for piece in self.board.load(request.buffer_id, request.start, request.end):
            yield self.proto.BufferReadResponse(data=piece)

    def freebuffer(self, request: Any) -> Any:
        self.board.free(request.buffer_id)
        return self.proto.FreeBufferResponse()

    def flush(self, request: Any) -> Any:
        self.board.buffer(request.buffer_id)
        return self.proto.FlushResponse()

    def invalidate(self, request: Any) -> Any:
        self.board.buffer(request.buffer_id)
        return self.proto.InvalidateResponse()

    def physical_address(self, request: Any) -> Any:
        return self.proto.AddressResponse(address=self.board.buffer(request.buffer_id)[0])

    def virtual_address(self, request: Any) -> Any:
        return self.physical_address(request)

    def cacheable(self, request: Any) -> Any:
        self.board.buffer(request.buffer_id)
        return self.proto.CacheableResponse(cacheable=True)


class Gpio(_Service):
    file = "gpio"

    def get_gpio(self, request: Any) -> Any:
        return self.proto.GetGpioResponse(gpio_id=self.board.pin(request.index, request.direction))

    def read(self, request: Any) -> Any:
        return self.proto.GpioReadResponse(value=self.board.pin_of(request.gpio_id).value)

    def write(self, request: Any) -> Any:
        if request.value not in (0, 1):
            raise RefusedError(f"a pin is 0 or 1, not {request.value}")
        self.board.pin_of(request.gpio_id).value = request.value
        return self.proto.GpioWriteResponse()

    def unexport(self, request: Any) -> Any:
        self.board.release_pin(request.gpio_id)
        return self.proto.GpioUnexportResponse()

    def is_exported(self, request: Any) -> Any:
        return self.proto.GpioIsExportedResponse(is_exported=self.board.has_pin(request.gpio_id))

    def get_gpio_base_path(self, _request: Any) -> Any:
        return self.proto.GetGpioBasePathResponse(base_path=f"/sys/class/gpio/gpiochip{PINS_BASE}")

    def get_gpio_npins(self, _request: Any) -> Any:
        return self.proto.GetGpioNPinsResponse(npins=PINS)


SERVICES = (RemoteDevice, Mmio, RemoteBuffer, Gpio)


def _handler(service: _Service, method: Any, streams: threading.Semaphore) -> Any:
    """Of an RPC: under the board's lock, but for what is streamed, which may take its time."""
    function: Callable[[Any], Any] = getattr(service, method.name)
    request, answer = (getattr(service.proto, kind.name) for kind in (method.input_type, method.output_type))

    def told(error: AxiloomError, context: Any) -> Any:
        line = str(error)[:2000]
        has_text = "msg" in answer.DESCRIPTOR.fields_by_name and not method.server_streaming
        if has_text and method.name != "allocate":  # of that, the client does not look at it
            return answer(msg=line)
        code = grpc.StatusCode.INVALID_ARGUMENT if isinstance(error, UsageError) else grpc.StatusCode.ABORTED
        context.abort(code, line)
        raise AssertionError

    def single(asked: Any, context: Any) -> Any:
        try:
            if not method.client_streaming:
                with service.board.lock:
                    return function(asked)
            with _slot(streams, context):
                return function(asked)
        except AxiloomError as error:
            return told(error, context)

    def stream(asked: Any, context: Any) -> Iterator[Any]:
        pieces = function(asked)
        with _slot(streams, context):
            while True:  # a piece at a time: a client that takes none holds no more of them
                try:
                    with service.board.lock:
                        piece = next(pieces, None)
                except AxiloomError as error:
                    told(error, context)
                if piece is None:
                    return
                yield piece

    make = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
    }[method.client_streaming, method.server_streaming]
    return make(stream if method.server_streaming else single, request.FromString, answer.SerializeToString)


@contextmanager
def _slot(streams: threading.Semaphore, context: Any) -> Iterator[None]:
    """One of the streams that may be under way, for so long as it may last."""
    if not streams.acquire(blocking=False):
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"{STREAMS} streams are under way: try again")
    timer = threading.Timer(STREAM_S, context.cancel)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        streams.release()


def check() -> None:
    """BuildError without gRPC."""
    for module in ("grpc", "grpc_tools"):
        extras.require(module, "serve --pynq")


def serve(board: BoardState, address: str = f"{LOOPBACK}:{PORT}") -> Any:
    """A started gRPC server; `axiloom_port` is where it listens.

    BuildError without gRPC, UsageError where the address cannot be had.
    """
    check()
    server = grpc.server(
        ThreadPoolExecutor(THREADS),
        maximum_concurrent_rpcs=MOST_REQUESTS,
        options=[
            ("grpc.max_receive_message_length", MOST_MESSAGE_BYTES),
            ("grpc.max_metadata_size", 8 << 10),
            ("grpc.max_concurrent_streams", MOST_REQUESTS),
            ("grpc.max_allowed_incoming_connections", MOST_CONNECTIONS),
            ("grpc.server_handshake_timeout_ms", HANDSHAKE_MS),
            ("grpc.so_reuseport", 0),  # else a second server takes half of the requests
        ],
    )
    streams = threading.BoundedSemaphore(STREAMS)
    for kind in SERVICES:
        service = kind(board)
        (described,) = service.proto.DESCRIPTOR.services_by_name.values()
        handlers = {method.name: _handler(service, method, streams) for method in described.methods}
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(described.full_name, handlers),)
        )
    try:
        port = server.add_insecure_port(address)
    except RuntimeError:
        port = 0
    if not port:
        raise UsageError(f"{address} cannot be had: is another server of this kind running?")
    server.start()
    server.axiloom_port = port
    return server
