"""How an input operand lies in the banks of its buffer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OperandLayout:
    """How one input operand lies in its banks.

    Its elements travel packed along k (A as (m, k), B as (n, k)) or across k (A as (k, m), B as
    (k, n)). Along k, a bank holds every `lanes`-th line of the operand and a word holds several k of
    one line. Across k, a word holds neighbouring lines of one k. A word of a bank is what is loaded in a
    cycle: a beat of the stream, or the part of it that all lines are whole multiples of.
    """

    name: str
    bits: int
    """Width of an element."""
    lanes: int
    """Elements of one k that it gives the array each cycle."""
    along_k: bool
    width: int
    """Bits of a bank's word."""
    banks: int
    depth: int
    """Words of a bank, for one ping-pong half."""
    ragged: bool = False
    """Lines may end within a word; each begins with one. Along k only."""

    @property
    def per_word(self) -> int:
        return self.width // self.bits

    @property
    def lanes_per_bank(self) -> int:
        return self.lanes // self.banks

    @property
    def groups(self) -> int:
        """Blocks that share one word; more than 1 only where a word has more elements than lanes."""
        return 1 if self.along_k else max(1, self.per_word // self.lanes)
