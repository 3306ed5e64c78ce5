"""Plans over bytes of whole arrays: the IR is read again, and the C says where each row goes."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.parser import Parser

from axiloom.drivergen.c.names import element_of
from axiloom.drivergen.dialects.mlir import context
from axiloom.drivergen.nest.emit_rows import Array, emit
from axiloom.drivergen.pipeline.of_plan import driver_of
from axiloom.isa.check.link import link
from axiloom.plan import Command, Plan, Queue, Receive, Send, Words
from axiloom.plan.tree import rows

ARRAYS = (
    Array("a", "in0", element_of(np.dtype(np.float32)), (8,), "in"),
    Array("y", "out1", element_of(np.dtype(np.uint16)), (8,), "out"),
)
SEND = Send(4, rows("a", 4, 6, 2, 8))
RECEIVE = Receive(2, rows("y", 2, 3, 2, 3), add=False)
PACKETS = Command("run", (RECEIVE, SEND))
PLACES = "{(uint8_t *)out1 + 2, 3, 2, 4},"


@pytest.mark.parametrize(
    ("plan", "packets", "lines"),
    [
        (
            Plan((Queue((PACKETS,)),)),
            (4, 2),
            (
                PLACES,
                "dma_queue_open_rows(places, 1, 2)",
                "dma_queue_array((const uint8_t *)in0 + 4, 6, 2, 8)",
            ),
        ),
        (
            Plan((PACKETS,)),
            (4, 2),
            (
                PLACES,
                "dma_put_rows((const uint8_t *)in0 + 4, 6, 2, 8, 0)",
                "axl_take_rows(places, window, 1, 0)",
            ),
        ),
        (
            Plan((Queue((Command("go", (RECEIVE, Words(3, values=(1, 2, 3)), SEND)),)),)),
            None,
            (
                "dma_queue_receive_rows((uint8_t *)out1 + 2, 3, 2, 3)",
                "dma_queue_pair(0x1u, 0x2u)",
                "dma_queue_word(0x3u)",
                "dma_queue_piece((const uint8_t *)in0 + 4, 6, 2, 8, 0)",
            ),
        ),
    ],
)
def test_rows(plan: Plan, packets: tuple[int, int] | None, lines: tuple[str, ...]) -> None:
    to = link("device", packets=packets)
    module = emit("run", plan, ARRAYS, to)
    module.verify()
    assert str(Parser(context(), str(module)).parse_module()) == str(module)
    driver = driver_of("run", plan, ARRAYS, to)
    for line in lines:
        assert line in driver.c
    assert [(arg.name, arg.dtype, arg.kind) for arg in driver.args] == [
        ("a", "float32", "in"),
        ("y", "uint16", "out"),
    ]
