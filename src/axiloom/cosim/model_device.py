"""The functional model as an accelerator of the simulated SoC: ``--rtl model``.

In the simulator ``rtl/axl_model.v`` has the accelerator's ports, ``native/model_device.cpp`` its beats and
queues. Both call the model itself, which is here, once for each portion of words that it waits for. So a
kernel runs with its driver, DMA, CPU and caches before there is RTL for it. Its cycles are those stated here.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from ctypes import CFUNCTYPE, POINTER, c_int, c_uint8, c_uint32, c_uint64
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from axiloom.base.errors import SimulatorError
from axiloom.isa import AcceleratorSpec
from axiloom.isa.opcode_map.model import FunctionalModel

MODEL_RTL = "the functional model (cycles: stated)"
"""What a report calls the RTL of such a run."""

_BROKEN = 15
"""What the ports say when the model itself failed: no DeviceError has this number."""


@dataclass(frozen=True)
class Timing:
    """The cycles that are stated for any accelerator; the rest follows from its specification.

    A load takes a cycle a beat as long as there is room, a compute ``ceil(multiply-adds / macs)`` cycles, a
    store a cycle a beat. Computes follow each other without a gap, and overlap with loads and stores.
    """

    latency: int = 16
    """Cycles from the last multiply-add to the first beat of a result."""
    ahead: int = 2
    """Computes, and results, under way or waiting at which no beat is taken: both halves of a buffer."""


class Answer(ctypes.Structure):
    """``axl_answer`` of native/axl_model.h."""

    _fields_ = [
        ("cycles", c_uint64),
        *((name, c_uint32) for name in ("wanted", "error", "n", "unused")),
        ("words", POINTER(c_uint32)),
        ("last", POINTER(c_uint8)),
    ]


_Function = CFUNCTYPE(None, c_int, POINTER(c_uint32), c_uint32, POINTER(Answer))


class Models:
    """The models of all accelerators of this process's SoC, connected to the core for as long as it runs.

    Attributes:
        seconds: wall time that the models have taken so far.
    """

    def __init__(self, library: Path, specs: Sequence[AcceleratorSpec], timing: Timing | None = None) -> None:
        self._models = [FunctionalModel(spec) for spec in specs]
        self._failure: BaseException | None = None
        self._kept: list[Any] = [None] * len(specs)  # what the core still reads
        self.seconds = 0.0
        self._function = _Function(self._run)
        stated = timing or Timing()
        connect = ctypes.CDLL(str(library)).axl_model_connect
        connect.restype, connect.argtypes = None, [c_int, c_uint32, c_uint32, c_uint32, _Function]
        for number, spec in enumerate(specs):
            connect(number, spec.link.beat_words, stated.ahead, stated.latency, self._function)

    def error(self, number: int) -> str:
        """Why a device stopped, in a line, or empty."""
        return self._models[number].error or ""

    def check(self) -> None:
        """Raises SimulatorError where a model failed."""
        if self._failure is not None:
            raise SimulatorError(
                f"the functional model failed with {type(self._failure).__name__}: {self._failure}"
            ) from self._failure

    def _run(self, number: int, words: Any, count: int, answer: Any) -> None:
        """Called by the core, through which nothing can be raised: the ports say that the model is broken."""
        begin = time.perf_counter()
        try:
            self._answer(number, words, count, answer.contents)
        except Exception as failure:
            self._failure = failure
            answer.contents.error = _BROKEN
        self.seconds += time.perf_counter() - begin

    def _answer(self, number: int, words: Any, count: int, answer: Answer) -> None:
        model = self._models[number]
        if not count:
            model.reset()
            answer.wanted = model.wanted
            return
        sent = model.feed(np.ctypeslib.as_array(words, shape=(count,)))
        answer.cycles = -(-model.multiply_adds // model.spec.macs)
        answer.wanted, answer.error = model.wanted, model.code
        if not sent.size:
            return
        if sent.size % model.spec.link.beat_words:
            raise ValueError(f"it sends {sent.size} words, no whole beats of {model.spec.link.beat_words}")
        last = np.ascontiguousarray(model.tlast, dtype=np.uint8)
        self._kept[number] = sent, last
        answer.n = sent.size
        answer.words = sent.ctypes.data_as(POINTER(c_uint32))
        answer.last = last.ctypes.data_as(POINTER(c_uint8))
