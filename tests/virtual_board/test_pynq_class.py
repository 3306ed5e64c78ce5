"""Our class for the PYNQ image, with PYNQ's semantics of buffers, against the server: RTL in simulation."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import axiloom as ax
from axiloom.boards import pynq
from axiloom.virtual_board.board import BoardState

pytest.importorskip("grpc", reason="gRPC is the extra [pynq]")
from tests.virtual_board.client import Client, connected


class Buffer(np.ndarray):
    """As PYNQ's remote one: a copy here, and one on the board, until somebody flushes or invalidates."""

    def of(self, client: Client) -> Buffer:
        self.client = client
        self.key = client.buffer.allocate(size=self.nbytes, dtype=self.dtype.str).buffer_id
        return self

    @property
    def physical_address(self) -> int:
        return int(self.client.buffer.physical_address(buffer_id=self.key).address)

    def flush(self) -> None:
        self.client.put(self.key, self)

    def invalidate(self) -> None:
        self[:] = self.client.fetch(self.key, self.dtype)


@pytest.fixture(params=[("v1_4", "simple"), ("v2_4", "simple"), ("v3_4", "sg"), ("loopback", "sg")])
def module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """`accelerator`, as the board would import it, with a `pynq` whose board is the server."""
    name, dma = request.param
    chip = ax.soc(name, sim="icarus", dma=dma)
    state = BoardState(chip.soc, chip.system.blocks, name)
    with connected(state) as client:

        class Registers:
            def __init__(self, base: int, length: int) -> None:
                self.key = client.window(base, length)

            def read(self, offset: int) -> int:
                return client.get(self.key, offset)

            def write(self, offset: int, value: int) -> None:
                client.set(self.key, offset, value)

        def allocate(count: int, dtype: Any, cacheable: int) -> Buffer:
            return np.full(count, 0xDEAD, dtype).view(Buffer).of(client)

        fake = types.ModuleType("pynq")
        fake.MMIO, fake.allocate = Registers, allocate  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "pynq", fake)
        made = types.ModuleType("accelerator")
        exec(compile(pynq.module(chip.spec), "accelerator.py", "exec"), made.__dict__)
        yield made


def test_every_flow_is_numpy_s(module: Any) -> None:
    assert module.Accelerator(module.Pynq()).check() == []


def test_without_sync_it_would_not_be(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Buffer, "flush", lambda _: None)
    monkeypatch.setattr(Buffer, "invalidate", lambda _: None)
    try:
        faulty = module.Accelerator(module.Pynq(), timeout_s=2).check()
    except (RuntimeError, module.AcceleratorError):  # an instruction that is none, and what it leads to
        return
    assert faulty
