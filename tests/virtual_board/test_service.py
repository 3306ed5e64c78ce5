"""The server of PYNQ's protocol: what a board does, what it refuses, and what a hostile client can do."""

from __future__ import annotations

import os
import random
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

import axiloom as ax
from axiloom.base import extras
from axiloom.base.errors import BuildError
from axiloom.cli import main
from axiloom.cosim.blocks import gpio
from axiloom.isa.contract.dma_registers import ADDRESS, DMACR, DMASR, LENGTH, Channel
from axiloom.virtual_board import address_map, handoff, service
from axiloom.virtual_board.board import AWAY_S, FIRMWARE, MANAGER, PINS_BASE, BoardState

grpc = pytest.importorskip("grpc", reason="gRPC is the extra [pynq]")
from tests.virtual_board.client import Client, connected  # noqa: E402

MM2S, S2MM = Channel.MM2S, Channel.S2MM
DMA = 0x40400000
RUN, IDLE = DMACR.field("RS").mask, DMASR.field("Idle").mask
RNG = np.random.default_rng(3)


def state(**options: object) -> BoardState:
    leds = ["leds_gpio=axi_gpio"]
    chip = ax.soc("v1_4", sim="icarus", board="pynq-z2", watchdog_cycles=30_000, ip=leds, **options)
    return BoardState(chip.soc, chip.system.blocks, "v1_4")


@pytest.fixture
def board() -> BoardState:
    return state()


@pytest.fixture
def client(board: BoardState) -> Iterator[Client]:
    with connected(board) as client:
        yield client


def program(client: Client, design: str = "v1_4") -> None:
    firmware = handoff.swapped(handoff.content(design, "a text"))
    client.put_file(f"{FIRMWARE}{design}.bin", firmware)
    client.put_file(MANAGER + "firmware", f"{design}.bin".encode())


def start(client: Client, window: str, channel: Channel, buffer: str, size: int) -> None:
    client.set(window, DMACR.at(channel), RUN)
    client.set(window, ADDRESS.at(channel), client.buffer.physical_address(buffer_id=buffer).address)
    client.set(window, LENGTH.at(channel), size)


def wait(client: Client, window: str, channel: Channel) -> int:
    """Looks until the channel is idle; how many."""
    looks = 1
    while not client.get(window, DMASR.at(channel)) & IDLE:
        looks += 1
    return looks


def test_a_transfer_as_pynq_makes_it(client: Client) -> None:
    program(client)
    window = client.window(DMA)
    for _ in range(3):
        a, b = RNG.integers(-9, 9, (2, 4, 4), dtype=np.int32)
        sent = client.buffer.allocate(size=128, dtype="<i4", cacheable=True).buffer_id
        back = client.buffer.allocate(size=64, dtype="<i4", cacheable=True).buffer_id
        start(client, window, S2MM, back, 64)
        client.put(sent, np.concatenate([a.ravel(), b.ravel()]))
        start(client, window, MM2S, sent, 128)
        assert wait(client, window, S2MM) < 20  # each look lets more time pass
        assert client.get(window, LENGTH.at(S2MM)) == 64
        assert np.array_equal(client.fetch(back, np.int32).reshape(4, 4), a @ b)
        client.buffer.freebuffer(buffer_id=sent)
        client.buffer.freebuffer(buffer_id=back)


def test_a_board_goes_on_while_its_client_is_away(client: Client) -> None:
    """Notebooks look once, a cell later, and never wait."""
    program(client)
    window = client.window(DMA)
    a, b = RNG.integers(-9, 9, (2, 4, 4), dtype=np.int32)
    sent = client.buffer.allocate(size=128, dtype="<i4", cacheable=True).buffer_id
    back = client.buffer.allocate(size=64, dtype="<i4", cacheable=True).buffer_id
    client.put(sent, np.concatenate([a.ravel(), b.ravel()]))
    start(client, window, MM2S, sent, 128)
    start(client, window, S2MM, back, 64)
    time.sleep(10 * AWAY_S)
    assert client.get(window, DMASR.at(S2MM)) & IDLE
    start(client, window, S2MM, back, 64)  # nothing comes
    time.sleep(10 * AWAY_S)
    assert not client.get(window, DMASR.at(S2MM)) & IDLE


def test_a_hang_is_the_diagnosis_and_the_next_overlay_begins_anew(client: Client) -> None:
    program(client)
    kept = client.buffer.allocate(size=8, dtype="<u4").buffer_id
    client.put(kept, np.array([5, 6], np.uint32))
    back = client.buffer.allocate(size=64, dtype="<i4").buffer_id
    window = client.window(DMA)
    start(client, window, S2MM, back, 64)
    with pytest.raises(RuntimeError, match=r"no progress, stopped after .*16 words expected, 0 received"):
        wait(client, window, S2MM)
    with pytest.raises(RuntimeError, match="no progress"):
        client.set(window, DMACR.at(MM2S), RUN)
    program(client)
    assert client.get(window, DMASR.at(S2MM)) == DMASR.reset
    assert client.fetch(kept, np.uint32).tolist() == [5, 6]  # memory stays


def test_what_is_not_there_is_said_in_a_line(client: Client) -> None:
    with pytest.raises(
        RuntimeError,
        match=r"nothing is mapped at 0x50000000 to 0x50000fff; there are axi_dma_0 at 0x40400000, leds",
    ):
        client.window(0x5000_0000)
    window = client.window(DMA)
    with pytest.raises(RuntimeError, match="offset 0x1000 is no word of a window of 4096 bytes"):
        client.get(window, 0x1000)
    with pytest.raises(RuntimeError, match="no window 'mmio-7'"):
        client.get("mmio-7", 0)
    for call, text in (
        (
            lambda: client.remote_device.readfile(file_path="/etc/passwd"),
            "this board has no file '/etc/passwd'",
        ),
        (lambda: client.put_file("/etc/passwd", b"x"), "this board keeps no file '/etc/passwd'"),
        (lambda: client.put_file("/tmp/../etc/passwd", b"x"), "this board keeps no file"),
        (lambda: client.put_file(MANAGER + "firmware", b"other.bin"), "write it first"),
        (lambda: client.buffer.allocate(size=1 << 30), "bytes of RAM are free in a row"),
        (lambda: client.buffer.allocate(size=-1), "no buffer of -1 bytes"),
        (lambda: program(client, "v3_16"), "is of the design 'v3_16'; this server simulates 'v1_4'"),
        (lambda: client.gpio.get_gpio(index=1, direction="in"), "no pin 1: there are 906 to 1023"),
    ):
        with pytest.raises(grpc.RpcError) as caught:
            call()
        assert text in caught.value.details()
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_pins_gpio_and_clocks_keep_what_is_written(client: Client) -> None:
    leds = client.window(gpio.KIND.base, 16)
    client.set(leds, 4, 0)
    client.set(leds, 0, 5)
    assert client.get(leds, 0) == 5
    slcr = client.window(address_map.SLCR, 0x200)
    assert client.get(slcr, 0x108) >> 12 & 0x7F == 20  # the IO PLL: 1 GHz
    key = client.gpio.get_gpio(index=PINS_BASE + 54, direction="out").gpio_id
    client.gpio.write(gpio_id=key, value=1)
    assert client.gpio.read(gpio_id=key).value == 1
    assert client.gpio.is_exported(gpio_id=key).is_exported
    client.gpio.unexport(gpio_id=key)
    assert not client.gpio.is_exported(gpio_id=key).is_exported
    assert client.gpio.get_gpio_base_path().base_path.endswith(str(PINS_BASE))


@pytest.mark.parametrize("module", ["grpc", "grpc_tools"])
def test_without_grpc_the_command_that_brings_it_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], module: str
) -> None:
    find = extras.importlib.util.find_spec
    monkeypatch.setattr(
        extras.importlib.util, "find_spec", lambda name: None if name == module else find(name)
    )
    assert main(["serve", "--pynq", "--accel", "v1_4"]) == BuildError.exit_code
    assert f"which is not installed: {extras.install('pynq')}" in capsys.readouterr().err


def test_a_second_server_at_the_address_is_refused() -> None:
    from axiloom.base.errors import UsageError
    from axiloom.virtual_board.service import serve

    first = serve(state(), "127.0.0.1:0")
    try:
        with pytest.raises(UsageError, match="cannot be had"):
            serve(state(), f"127.0.0.1:{first.axiloom_port}")
    finally:
        first.stop(0).wait()


# --- a hostile client ---------------------------------------------------------------------------------------

PATHS = (
    *(
        "/etc/passwd",
        "../../etc/passwd",
        "/tmp/../etc/shadow",
        "/lib/firmware/../../etc/hosts",
        "",
        "/",
        "\0",
    ),
    *(
        "/proc/self/mem",
        "/proc/version\0",
        "/tmp/" + "a" * 5000,
        "/sys/class/fpga_manager/fpga0/firmware",
        "~",
    ),
    *("/tmp/x", "/lib/firmware/x.bin", "file:///etc/passwd", "/tmp/%2e%2e/x", "/dev/mem", "C:\\x"),
)
NUMBERS = (0, 1, 2, 3, 4, 0x1000, DMA, DMA + 4, (1 << 31) - 1, 1 << 31, (1 << 32) - 4, 1 << 32, (1 << 64) - 1)
KEYS = (
    "",
    "mmio-1",
    "mmio-40400000-1000",
    "buffer-1",
    "buffer-2",
    "pin-906",
    "pin--1",
    "x" * 10_000,
    "\0",
    "pin-" + "9" * 99,
)


def hostile(client: Client, rng: random.Random) -> None:
    """A request with values that nobody sends."""
    number = lambda most: min(rng.choice(NUMBERS), most) * (rng.random() < 0.8 or -1 if most < 1 << 31 else 1)  # noqa: E731
    big, signed = (1 << 64) - 1, (1 << 31) - 1
    data = rng.randbytes(rng.choice((0, 1, 4, 7, 4096, 70_000)))
    rng.choice(
        (
            lambda: client.remote_device.readfile(file_path=rng.choice(PATHS)),
            lambda: client.remote_device.existsfile(file_path=rng.choice(PATHS)),
            lambda: client.put_file(rng.choice(PATHS), data),
            lambda: client.remote_device.writefile(),
            lambda: client.mmio.get_mmio(base_addr=number(big), length=number(big)),
            lambda: client.mmio.read(mmio_id=rng.choice(KEYS), offset=number(big), length=number(big)),
            lambda: client.mmio.write(mmio_id=rng.choice(KEYS), offset=number(big), data=data),
            lambda: client.buffer.allocate(size=number(signed), dtype=rng.choice(PATHS)),
            lambda: client.buffer.read(buffer_id=rng.choice(KEYS), start=number(signed), end=number(signed)),
            lambda: client.buffer.write(
                {"buffer_id": rng.choice(KEYS), "data": data, "start": number(signed)}
            ),
            lambda: client.buffer.freebuffer(buffer_id=rng.choice(KEYS)),
            lambda: client.buffer.physical_address(buffer_id=rng.choice(KEYS)),
            lambda: client.gpio.get_gpio(index=number(signed), direction=rng.choice(("in", "out", "up"))),
            lambda: client.gpio.write(gpio_id=rng.choice(KEYS), value=number(signed)),
            lambda: client.gpio.unexport(gpio_id=rng.choice(KEYS)),
        )
    )()


_TOUCHED: list[tuple[str, str]] | None = None
"""While a test looks: what Python does with files and processes of this machine."""


def _audit(event: str, words: tuple[object, ...]) -> None:
    if _TOUCHED is not None and event.startswith(("open", "os.", "shutil.", "subprocess.", "socket.connect")):
        _TOUCHED.append((event, str(words[:1])))


sys.addaudithook(_audit)


def test_hostile_requests_harm_nothing(board: BoardState, monkeypatch: pytest.MonkeyPatch) -> None:
    """AXILOOM_HOSTILE: how many; 10,000 take two minutes."""
    global _TOUCHED
    requests = int(os.environ.get("AXILOOM_HOSTILE", "2000"))
    with connected(board) as client:
        program(client)
        window = client.window(DMA)
        client.get(window, 0)  # the simulator runs
        rng, codes = random.Random(1), Counter[object]()
        touched = _TOUCHED = []
        for _ in range(requests):
            try:
                hostile(client, rng)
            except grpc.RpcError as error:
                codes[error.code()] += 1
        _TOUCHED = None
        assert [*codes] == [grpc.StatusCode.INVALID_ARGUMENT]
        assert requests // 10 < codes.total() < requests
        assert client.get(client.window(DMA), DMASR.at(MM2S)) & 1  # it goes on
    assert not touched


def test_messages_and_streams_that_are_too_large_are_refused(client: Client, board: BoardState) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        client.put_file("/tmp/x", bytes(5 << 20))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    with pytest.raises(grpc.RpcError) as caught:
        client.remote_device.writefile(*[{"file_path": "/tmp/x", "data": bytes(2 << 20)}] * 33)
    assert "more than 67,108,864 bytes" in caught.value.details()
    for number in range(256 - len(board._files)):
        client.put_file(f"/tmp/{number}", b"")
    with pytest.raises(grpc.RpcError, match="keeps 256 files"):
        client.put_file("/tmp/more", b"")


def test_no_window_is_forgotten(client: Client) -> None:
    first = client.window(DMA)
    for length in range(4, 0x1000, 2):
        client.window(DMA, length)
    assert client.get(first, DMASR.at(MM2S)) == DMASR.reset
    for key in ("mmio-40400001-8", "mmio-50000000-8", "mmio-40400000-0", "mmio-40400000-20000"):
        with pytest.raises(RuntimeError, match=r"no window of \d+ bytes at|nothing is mapped"):
            client.get(key, 0)


def test_readers_that_take_nothing_keep_nobody_off(client: Client) -> None:
    large = client.buffer.allocate(size=64 << 20, dtype="<u4").buffer_id
    read = client.channel.unary_stream(
        "/buffer.RemoteBuffer/read", lambda key: b"\n" + bytes([len(key)]) + key.encode(), bytes
    )
    under_way = [read(large) for _ in range(service.STREAMS)]
    assert all(len(next(stream)) > 1 << 20 for stream in under_way)
    with pytest.raises(grpc.RpcError, match="8 streams are under way: try again"):
        client.fetch(large, np.uint32)
    assert client.get(client.window(DMA), DMASR.at(MM2S)) == DMASR.reset
    for stream in under_way:
        stream.cancel()
    for _ in range(100):
        try:
            assert client.fetch(large, np.uint8).size == 64 << 20
            return
        except grpc.RpcError:
            time.sleep(0.1)
    raise AssertionError("no stream has ended")


def test_connections_that_say_nothing_are_closed(board: BoardState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "HANDSHAKE_MS", 500)
    server = service.serve(board, "127.0.0.1:0")
    place = "127.0.0.1", server.axiloom_port
    idle = [socket.create_connection(place) for _ in range(service.MOST_CONNECTIONS + 50)]
    try:
        with grpc.insecure_channel("{}:{}".format(*place)) as channel:
            grpc.channel_ready_future(channel).result(timeout=30)
            assert Client(channel).remote_device.existsfile(file_path="/proc/version").exists
    finally:
        for connection in idle:
            connection.close()
        server.stop(0).wait()
