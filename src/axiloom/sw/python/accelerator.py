"""The accelerator's kernel on NumPy arrays: for the PYNQ image (3.0 or later).

::

    from accelerator import Accelerator, Pynq

    device = Accelerator(Pynq("accelerator.bit"))
    C = device.matmul(A, B)                 # the specification's flow; or flow="As"
    C = device.copy(A)                      # of loop-back and identity

As a program, ``python3 accelerator.py accelerator.bit`` holds each flow against NumPy.

It follows the flows of the specification that it was generated from, tile by tile. That is for trying things
out: each tile is packed by NumPy and each wait is a loop in Python; the C driver beside it is what is fast.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
CONFIG: dict[str, Any] = {}  # the specification; axiloom writes it here

# Written by `python -m tools.registers --write` from isa/contract/dma_registers.py.
MM2S, S2MM = 0x00, 0x30
DMACR, DMASR, CURDESC, TAILDESC, ADDRESS, LENGTH = 0x00, 0x04, 0x08, 0x10, 0x18, 0x28
RUN, RESET, HALTED, IDLE, ERRORS = 1, 4, 1, 2, 0x770
# Up to here.
WHOLE_PACKET = 3 << 26  # a descriptor's first and last of a packet: PG021, "Descriptor Fields"


class AcceleratorError(Exception):
    """The hardware does not do what the specification says, or was asked for what it cannot do."""


class Pynq:
    """Registers and memory of a board with the PYNQ image: what `Accelerator` needs of its surroundings.

    Others may take its place: `input_address` and `output_address` are where the DMA finds the windows, and
    `ring_address` 256 bytes for descriptors if it works through them; `read` and `write` transfer 32-bit
    words, by the addresses that the DMA uses.
    """

    def __init__(self, bitfile: str | None = None) -> None:
        import pynq  # type: ignore[import-not-found]  # only there on the board

        self.overlay = pynq.Overlay(bitfile) if bitfile else None
        dma = CONFIG["dma"]
        self._registers = pynq.MMIO(dma["address"], 0x1000)
        self._base = dma["address"]
        sizes = (dma["input_bytes"], dma["output_bytes"], 256)
        self._windows = [pynq.allocate(size // 4, np.uint32, cacheable=0) for size in sizes]
        addresses = (window.physical_address for window in self._windows)
        self.input_address, self.output_address, self.ring_address = addresses

    def read(self, address: int, count: int) -> Array:
        if self._base <= address < self._base + 0x1000:
            return np.array(
                [self._registers.read(address - self._base + 4 * i) for i in range(count)], np.uint32
            )
        window, at = self._place(address)
        window.invalidate()  # the CPU's caches, or a remote client's copy, have what was there before
        return np.array(window[at : at + count])

    def write(self, address: int, words: Any) -> None:
        words = np.asarray(words, np.uint32)
        if self._base <= address < self._base + 0x1000:
            for i, word in enumerate(words):
                self._registers.write(address - self._base + 4 * i, int(word))
            return
        window, at = self._place(address)
        window[at : at + len(words)] = words
        window.flush()

    def _place(self, address: int) -> tuple[Any, int]:
        for window in self._windows:
            if window.physical_address <= address < window.physical_address + window.nbytes:
                return window, (address - window.physical_address) // 4
        raise AcceleratorError(f"{address:#x} is neither a register nor in a window")


class Accelerator:
    """The accelerator behind its DMA. `memory`: a `Pynq`, or what does the same."""

    def __init__(self, memory: Any, timeout_s: float = 10.0) -> None:
        self.memory = memory
        self.timeout_s = timeout_s
        self._dma = CONFIG["dma"]
        self._type = np.dtype(CONFIG["data_type"])
        self._tile = dict(zip(CONFIG["dims"], CONFIG["tile"], strict=True))
        self._set(MM2S + DMACR, RESET)
        self._until(MM2S + DMACR, RESET, 0, "does not come out of reset")
        self._next: dict[int, int] = {}  # of a DMA with scatter-gather: each channel's next descriptor
        for channel in (MM2S, S2MM):
            if self._dma["scatter_gather"]:
                self._next[channel] = memory.ring_address + (128 if channel == S2MM else 0)
                self._set(channel + CURDESC, self._next[channel])
            self._set(channel + DMACR, RUN)
            self._until(channel + DMASR, HALTED, 0, "does not start")
        for name in CONFIG["init_opcodes"]:
            self._send(self._words(name, {}, {})[0])

    def matmul(self, a: Array, b: Array, flow: str | None = None) -> Array:
        """A (M, K) times B (K, N), int32 (M, N), mod 2^32. `flow`: a name; by default the selected one."""
        if "m" not in CONFIG["dims"]:
            raise AcceleratorError(f"{CONFIG['name']} copies: copy(A) is what it does")
        if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
            raise AcceleratorError(f"A (M, K) and B (K, N) are wanted, not {a.shape} and {b.shape}")
        if a.dtype != self._type or b.dtype != self._type:
            raise AcceleratorError(f"elements must be {self._type}, not {a.dtype} and {b.dtype}")
        sizes = {"m": a.shape[0], "n": b.shape[1], "k": a.shape[1]}
        return self._run({"A": a, "B": b}, sizes, flow)

    def copy(self, a: Array, flow: str | None = None) -> Array:
        """What comes back of A (N), int32."""
        if "m" in CONFIG["dims"]:
            raise AcceleratorError(f"{CONFIG['name']} multiplies: matmul(A, B) is what it does")
        if a.ndim != 1 or a.dtype != self._type:
            raise AcceleratorError(f"A (N) of {self._type} is wanted, not {a.shape} of {a.dtype}")
        return self._run({"A": a}, {"n": a.shape[0]}, flow)

    def check(self, seed: int = 0) -> list[str]:
        """The flows whose results are not NumPy's, on random numbers; a size of each dim is no whole tile."""
        rng = np.random.default_rng(seed)
        info = np.iinfo(self._type)
        size = {dim: 2 * tile + tile // 2 for dim, tile in self._tile.items()}

        def numbers(operand: str) -> Array:
            shape = [size[dim] for dim in (self._natural(operand))]
            return rng.integers(info.min, info.max, shape, self._type, endpoint=True)

        wrong = []
        for flow in CONFIG["flows"]:
            a = numbers("A")
            if "m" in size:
                b = numbers("B")
                right = (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32)
                same = np.array_equal(self.matmul(a, b, flow), right)
            else:
                same = np.array_equal(self.copy(a, flow), a)
            wrong += [] if same else [flow]
        return wrong

    # -- a kernel --

    def _natural(self, operand: str) -> list[str]:
        """Dims of an operand as NumPy has it: a specification may send it the other way round."""
        return {"A": ["m", "k"], "B": ["k", "n"], "C": ["m", "n"]}[operand] if "m" in self._tile else ["n"]

    def _run(self, inputs: dict[str, Array], sizes: dict[str, int], flow: str | None) -> Array:
        chosen = CONFIG["flows"].get(flow or CONFIG["selected_flow"])
        if chosen is None:
            raise AcceleratorError(f"flows are {', '.join(CONFIG['flows'])}")
        turned = {name for name, dims in CONFIG["data"].items() if dims != self._natural(name)}
        result = np.zeros([sizes[dim] for dim in CONFIG["data"]["C"]], np.int32)
        laid_out = {name: array.T if name in turned else array for name, array in inputs.items()}
        operands = {name: self._padded(array, name) for name, array in {**laid_out, "C": result}.items()}
        order, scope = chosen["order"], chosen["scope"]
        self._loops(scope, order, 0, len(order) - _depth(scope) + 1, {}, sizes, operands)
        whole: Array = operands["C"][tuple(slice(size) for size in result.shape)]
        return (whole.T if "C" in turned else whole).copy()

    # -- the flow --

    def _loops(
        self,
        scope: list[Any],
        order: list[str],
        level: int,
        until: int,
        index: dict[str, int],
        sizes: dict[str, int],
        operands: dict[str, Array],
    ) -> None:
        """Loops number `level` to `until` - 1 around `scope`; inner scopes are bodies of inner loops."""
        if level < until:
            dim = order[level]
            for begin in range(0, sizes[dim], self._tile[dim]):
                self._loops(scope, order, level + 1, until, {**index, dim: begin}, sizes, operands)
            return
        for item in scope:
            if isinstance(item, list):
                self._loops(item, order, level, level + 1, index, sizes, operands)
            else:
                self._opcode(item, index, operands)

    def _opcode(self, name: str, index: dict[str, int], operands: dict[str, Array]) -> None:
        words, received = self._words(name, index, operands)
        if not received:
            self._send(words)
            return
        (operand,) = received
        place = self._tile_of(operand, index)
        target = operands[operand][place]
        tile = self._exchange(words, target.size).view(np.int32).reshape(target.shape)
        with np.errstate(over="ignore"):
            operands[operand][place] = target + tile

    def _words(self, name: str, index: dict[str, int], operands: dict[str, Array]) -> tuple[Array, list[str]]:
        """What the opcode sends, and the operands that it makes the device send."""
        parts: list[Any] = []
        received: list[str] = []
        single: list[int] = []  # words that share a beat; zeros fill it up

        def whole_beats() -> None:
            parts.append([*single, *[0] * (-len(single) % CONFIG["beat_words"])])
            single.clear()

        for kind, value in CONFIG["opcodes"][name]:
            if kind == "literal":
                single.append(value)
            elif kind == "dims":
                single.append(sum(self._value(dim) << shift for dim, shift in value))
            elif kind == "index":
                single.append(index[value])
            elif kind == "send":
                whole_beats()
                tile = np.ascontiguousarray(operands[value][self._tile_of(value, index)])
                parts.append(tile.reshape(-1).view(np.uint32))
            else:
                received.append(value)
        whole_beats()
        words = [np.asarray(part, np.uint32) for part in parts]
        return np.concatenate([np.zeros(0, np.uint32), *words]), received

    def _value(self, name: str) -> int:
        """Of a field: the tile's size, or a setting that stays as it is after reset."""
        return self._tile[name] if name in self._tile else int(CONFIG["settings"][name])

    def _tile_of(self, operand: str, index: dict[str, int]) -> tuple[slice, ...]:
        return tuple(slice(index[d], index[d] + self._tile[d]) for d in CONFIG["data"][operand])

    def _padded(self, matrix: Array, operand: str) -> Array:
        steps = [self._tile[dim] for dim in CONFIG["data"][operand]]
        return np.pad(matrix, [(0, -size % step) for size, step in zip(matrix.shape, steps, strict=True)])

    # -- the DMA (PG021) --

    def _set(self, register: int, value: int) -> None:
        self.memory.write(self._dma["address"] + register, [value])

    def _get(self, register: int) -> int:
        return int(self.memory.read(self._dma["address"] + register, 1)[0])

    def _until(self, register: int, bits: int, value: int, what: str) -> None:
        end = time.monotonic() + self.timeout_s
        while True:
            now = self._get(register)
            if register & 0xF == DMASR and now & ERRORS:
                raise AcceleratorError(f"the DMA stopped with an error: status {now:#010x}")
            if now & bits == value:
                return
            if time.monotonic() > end:
                status = f"MM2S {self._get(MM2S + DMASR):#010x}, S2MM {self._get(S2MM + DMASR):#010x}"
                raise AcceleratorError(f"the DMA {what} within {self.timeout_s:g} s: {status}")

    def _start(self, channel: int, address: int, words: int) -> None:
        if not 0 < 4 * words < 1 << self._dma["length_bits"]:
            raise AcceleratorError(
                f"{words} words are no transfer for LENGTH of {self._dma['length_bits']} bits"
            )
        if not self._dma["scatter_gather"]:
            self._set(channel + ADDRESS, address)
            self._set(channel + LENGTH, 4 * words)
            return
        here = self._next[channel]
        self._next[channel] = here ^ 64  # two lead to each other, and take turns
        self.memory.write(here, [here ^ 64, 0, address, 0, 0, 0, WHOLE_PACKET | 4 * words, 0])
        self._set(channel + TAILDESC, here)

    def _received(self) -> int:
        """Bytes of the last packet."""
        if not self._dma["scatter_gather"]:
            return self._get(S2MM + LENGTH)
        (status,) = self.memory.read((self._next[S2MM] ^ 64) + 28, 1)
        bits: int = self._dma["length_bits"]
        return int(status) & (1 << bits) - 1

    def _send(self, words: Array) -> None:
        if 4 * len(words) > self._dma["input_bytes"]:
            raise AcceleratorError(f"{len(words)} words do not fit the input window")
        self.memory.write(self.memory.input_address, words)
        self._start(MM2S, self.memory.input_address, len(words))
        self._until(MM2S + DMASR, IDLE, IDLE, "does not send")

    def _exchange(self, words: Array, count: int) -> Array:
        """Send, and receive `count` words: armed first, so that the device never waits for it."""
        self._start(S2MM, self.memory.output_address, count)
        self._send(words)
        self._until(S2MM + DMASR, IDLE, IDLE, "does not receive")
        if self._received() != 4 * count:
            raise AcceleratorError(f"{self._received() // 4} words came in place of {count}")
        words_back: Array = self.memory.read(self.memory.output_address, count)
        return words_back


def _depth(scope: list[Any]) -> int:
    return 1 + max((_depth(item) for item in scope if isinstance(item, list)), default=0)


if __name__ == "__main__":
    faulty = Accelerator(Pynq(*sys.argv[1:2])).check()
    for tried in CONFIG["flows"]:
        print(f"{CONFIG['name']}, flow {tried}: {'WRONG' if tried in faulty else 'right'}")
    sys.exit(1 if faulty else 0)
