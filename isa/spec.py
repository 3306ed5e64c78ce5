"""`AcceleratorSpec`: the one description from which RTL, driver, model and checks come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from axiloom.isa.types import WORD_BITS, DataType, DmaConfig, Opcode, Scope, TileRule


@dataclass(frozen=True)
class AcceleratorSpec:
    """An accelerator's instruction set and the sizes of what executes it.

    Build one with :func:`axiloom.isa.load` or :func:`axiloom.isa.builtin`; both check it whole
    (:func:`axiloom.isa.check.check`). The class itself holds values and derives sizes.
    """

    name: str
    version: str
    description: str
    kernel: str
    """The MLIR operation it executes, ``linalg.matmul``."""
    data_type: DataType
    dims: tuple[str, ...]
    """Names of the loop dims, in the kernel's own order (``m, n, k``)."""
    data: Mapping[str, tuple[str, ...]]
    """Operand to its dims, row major: ``{"A": ("m", "k"), "B": ("k", "n"), "C": ("m", "n")}``."""
    opcodes: Mapping[str, Opcode]
    flows: Mapping[str, Scope]
    selected_flow: str
    init_opcodes: tuple[str, ...]
    """Opcodes the host sends once, before the loops."""
    dma: DmaConfig
    buffers: Mapping[str, int]
    """Operand to the capacity of its buffer on the device, in 32-bit words (one ping-pong half)."""
    tile: TileRule
    macs: int
    """Parallel multiply-adds."""
    stream_width: int = WORD_BITS
    cpu: Mapping[str, Any] = field(default_factory=dict)
    """The ``cpu`` part of the file (cache levels and types), kept as it was."""

    def replace(self, **changes: Any) -> AcceleratorSpec:
        return replace(self, **changes)

    @property
    def beat_words(self) -> int:
        """32-bit words that the stream takes at once, the lowest in the lowest bits."""
        return self.stream_width // WORD_BITS

    @property
    def outputs(self) -> tuple[str, ...]:
        """Operands that some opcode receives."""
        return tuple(o for o in self.data if any(o in op.receives for op in self.opcodes.values()))

    def operand_type(self, operand: str) -> DataType:
        """Type of an operand's elements on the stream: int32 for what comes back."""
        return DataType.INT32 if operand in self.outputs else self.data_type

    def sizes(self, tile: tuple[int, ...]) -> dict[str, int]:
        """Dim name to its size in `tile`."""
        return dict(zip(self.dims, tile, strict=True))

    def operand_shape(self, operand: str, tile: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """Shape of an operand's tile, in elements, in the operand's own dims."""
        sizes = self.sizes(tile or self.tile.size)
        return tuple(sizes[d] for d in self.data[operand])

    def operand_words(self, operand: str, tile: tuple[int, ...] | None = None) -> int:
        """Stream words of an operand's tile. The last dim is a whole number of words (checked)."""
        return prod(self.operand_shape(operand, tile)) // self.operand_type(operand).per_word
