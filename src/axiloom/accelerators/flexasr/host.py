"""What a host writes for a layer on FlexASR (``flexasr.isa``), and where its results are.

Tensors are AdaptivFloat<8,3> bytes, (steps, elements), and have one bias each:
:mod:`axiloom.isa.numerics.adaptivfloat` quantises. Elements are a multiple of 16, the outputs of a layer on
the processing elements one of 64.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from axiloom.isa.instructions.simulator.simulate import Simulator

Bytes = npt.NDArray[np.uint8]
Write = tuple[int, int]
"""An address and 16 bytes, the first one lowest."""

LANES, ELEMENTS = 16, 4
BUFFER, ELEMENT = 0x33 << 24, 0x34 << 24
CONTROL, REDUCE, NORM, PAD, ATTENTION = range(1, 6)
GAMMA, BETA = 5, 6
"""Tensors of the small buffer that layer norm takes."""

LINEAR = bytes.fromhex("3040")
RNN = bytes.fromhex("303481b040")
GRU = bytes.fromhex("303481a034389281b0343886a41899d491822040")
LSTM = bytes.fromhex("303481a0343886b491343886a418968120b0343886a49140")
"""Programs of the activation unit. Gates of the GRU: reset, new, update; of the LSTM: i, g, f, o."""
_DOUBLED = b"\x80"
"""Register 0 is added to itself."""


def enlarged(exponent: int) -> bytes:
    """The LSTM's program, which emits its result 2^`exponent` times as large.

    Cell and result are written with one bias. The cell's state is the larger one, so a result as it is lies
    low in the window of exponents, and small elements become zero.
    """
    return LSTM[:-1] + _DOUBLED * exponent + LSTM[-1:]


def _word(*fields: tuple[int, int]) -> int:
    """Fields are a first bit and a value."""
    return sum(value << low for low, value in fields)


def _at(part: int, unit: int, index: int) -> int:
    return part | unit << 20 | index << 4


def _vectors(part: int, unit: int, first: int, rows: npt.ArrayLike) -> Iterator[Write]:
    """Bytes, 16 to each place from `first` on."""
    for index, row in enumerate(np.asarray(rows, np.uint8).reshape(-1, LANES)):
        yield _at(part, unit, first + index), int.from_bytes(row.tobytes(), "little")


@dataclass(frozen=True)
class Program:
    """`writes` in order; the last one starts. `results`: addresses of vectors, (steps, vectors).

    `weights` come before them; a device that has them, of a program before, needs them no more.
    """

    writes: Sequence[Write]
    results: npt.NDArray[Any]
    weights: Sequence[Write] = ()

    def run(self, device: Simulator, *, weights: bool = True) -> Bytes:
        """The results, (steps, elements)."""
        for address, data in (*(self.weights if weights else ()), *self.writes):
            device.command(addr=address, data=data, wr=1)
        return self.read(device)

    def read(self, device: Simulator) -> Bytes:
        results = []
        for address in self.results.ravel():
            device.command(addr=int(address), rd=1)
            results.append(device.state["bus"].astype(np.uint8))
        return np.stack(results).reshape(len(self.results), -1)


@dataclass(frozen=True)
class Tensor:
    """Of the large buffer: vectors of a step, and where the first one is."""

    steps: int
    vectors: int
    base: int = 0

    @property
    def end(self) -> int:
        return self.base + -(-self.steps // LANES) * LANES * self.vectors

    def places(self) -> npt.NDArray[Any]:
        """Addresses, (steps, vectors): 16 steps of a vector are neighbours."""
        step, vector = np.ogrid[: self.steps, : self.vectors]
        at = self.base + step % LANES + (step // LANES * self.vectors + vector) * LANES
        return np.asarray(BUFFER | 5 << 20 | at << 4)

    def filled(self, x: Bytes) -> Iterator[Write]:
        for address, row in zip(self.places().ravel(), x.reshape(-1, LANES), strict=True):
            yield int(address), int.from_bytes(row.tobytes(), "little")


def _tensors(*of: Tensor) -> Write:
    fields = [
        (32 * i + shift, value)
        for i, tensor in enumerate(of)
        for shift, value in ((0, tensor.vectors), (16, tensor.base))
    ]
    return _at(BUFFER, 4, 1), _word(*fields)


def _start(unit: int) -> Write:
    return _at(BUFFER, 0, unit), 0


def _config(unit: int, *fields: tuple[int, int]) -> Write:
    return _at(BUFFER, 6 + unit, 1), _word((0, 1), *fields)


# --- layers on the processing elements --------------------------------------------------------------------


@dataclass(frozen=True)
class Product:
    """`weights` (gates, outputs, inputs) times a vector, plus `added` (gates, outputs); and their biases."""

    weights: Bytes
    added: Bytes
    weight_bias: int
    added_bias: int
    input_bias: int


def layer(x: Bytes, products: Sequence[Product], program: bytes, bias: int) -> Program:
    """`program` on the products of each step's x and, with a second product, of the result before.

    `bias` is that of results, and of what the program stores. The first step has zeros before it.
    """
    outputs = products[0].weights.shape[1]
    own = outputs // LANES // ELEMENTS
    source = Tensor(len(x), x.shape[1] // LANES)
    result = Tensor(len(x), outputs // LANES, source.end)
    writes = [*source.filled(x), _tensors(source, result)]
    weights: list[Write] = []
    for pe in range(ELEMENTS):
        part, rows = ELEMENT | pe << 24, slice(pe * own * LANES, (pe + 1) * own * LANES)
        weights += _weights(part, products, rows)
        writes += _products(part, products, rows)
        fields = (0, 1), (8, 1), (16, bias), (24, len(program)), (32, own), (64, pe * own)
        writes += [(_at(part, 8, 1), _word(*fields))]
        writes += _vectors(part, 8, 2, np.frombuffer(program.ljust(32, b"\0"), np.uint8))
    recurrent = len(products) - 1
    config = (16, recurrent), (40, 1), (48, source.vectors), (56, result.vectors * recurrent), (64, len(x))
    return Program([*writes, _config(CONTROL, *config), _start(CONTROL)], result.places(), weights)


def _places(products: Sequence[Product], rows: slice) -> Iterator[tuple[Product, int, int, int, int]]:
    """Of each product: its vectors of inputs, where its weights are, its inputs, and what is added to it.

    Inputs come first, one product after the other, then what is added.
    """
    tiles = len(products[0].weights) * (rows.stop - rows.start) // LANES
    weights, inputs, added = 0, 0, sum(product.weights.shape[2] // LANES for product in products)
    for product in products:
        vectors = product.weights.shape[2] // LANES
        yield product, vectors, weights, inputs, added
        weights, inputs, added = weights + tiles * vectors * LANES, inputs + vectors, added + tiles


def _weights(part: int, products: Sequence[Product], rows: slice) -> Iterator[Write]:
    for product, vectors, weights, _, added in _places(products, rows):
        gates = len(product.weights)
        # From (gates, vectors of outputs, 16 outputs, vectors of inputs, 16 inputs): all gates of a vector
        # of outputs are together.
        tiles = product.weights[:, rows].reshape(gates, -1, LANES, vectors, LANES).transpose(1, 0, 3, 2, 4)
        yield from _vectors(part, 5, weights, tiles)
        yield from _vectors(
            part, 6, added, product.added[:, rows].reshape(gates, -1, LANES).transpose(1, 0, 2)
        )


def _products(part: int, products: Sequence[Product], rows: slice) -> Iterator[Write]:
    tiles = len(products[0].weights) * (rows.stop - rows.start) // LANES
    yield _at(part, 4, 1), _word((0, 1), (8, 1), (24, 1), (32, len(products)), (40, tiles))
    for number, (product, vectors, weights, inputs, added) in enumerate(_places(products, rows)):
        biases = (8, product.weight_bias), (16, product.added_bias), (24, product.input_bias)
        places = (32, vectors), (48, weights), (64, added), (80, inputs)
        yield _at(part, 4, 2 + 2 * number), _word((0, number), *biases, *places)


# --- units of the global buffer ---------------------------------------------------------------------------


def reduced(x: Bytes, mode: int) -> Program:
    """Pairs of steps to one. `mode` 0: the larger elements, 1: means, 2: sums."""
    tensor = Tensor(len(x), x.shape[1] // LANES)
    fields = (8, mode), (48, tensor.vectors), (64, tensor.steps)
    writes = [*tensor.filled(x), _tensors(tensor), _config(REDUCE, *fields), _start(REDUCE)]
    return Program(writes, tensor.places()[: len(x) // 2])


def normalised(x: Bytes, gamma: Bytes, beta: Bytes, *, bias: int, gamma_bias: int, beta_bias: int) -> Program:
    """Layer norm of each step. The results have the bias of x."""
    tensor = Tensor(len(x), x.shape[1] // LANES)
    fields = (48, tensor.vectors), (64, tensor.steps), (96, bias), (112, beta_bias), (120, gamma_bias)
    writes = [
        *tensor.filled(x),
        _tensors(tensor),
        *_vectors(BUFFER, 6, 0, gamma),
        *_vectors(BUFFER, 6, tensor.vectors, beta),
        (_at(BUFFER, 4, 2), _word((16 * GAMMA, 0), (16 * BETA, tensor.vectors))),
        _config(NORM, *fields),
        _start(NORM),
    ]
    return Program(writes, tensor.places())


def padded(x: Bytes, until: int) -> Program:
    """Steps of zeros behind those of x, up to `until`."""
    tensor = Tensor(until, x.shape[1] // LANES)
    fields = (48, tensor.vectors), (64, len(x)), (80, until)
    filled = Tensor(len(x), tensor.vectors).filled(x)
    return Program([*filled, _tensors(tensor), _config(PAD, *fields), _start(PAD)], tensor.places())


def attended(
    x: Bytes, decoder: Bytes, *, bias: int, decoder_bias: int, soft_bias: int, output_bias: int
) -> Program:
    """The mean of x's steps by softmax(x times `decoder`). A multiple of 16 steps."""
    tensor = Tensor(len(x), x.shape[1] // LANES)
    fields = (40, 0), (48, tensor.vectors), (64, tensor.steps), (96, bias), (104, decoder_bias)
    writes = [
        *tensor.filled(x),
        _tensors(tensor),
        *_vectors(BUFFER, 6, 0, decoder),
        (_at(BUFFER, 4, 2), _word((16 * 7, tensor.vectors))),
        _config(ATTENTION, *fields, (112, soft_bias), (120, output_bias)),
        _start(ATTENTION),
    ]
    places = BUFFER | 6 << 20 | np.arange(tensor.vectors)[None] << 4
    return Program(writes, places)
