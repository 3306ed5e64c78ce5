"""The least of a part that an accelerator with an array needs: its products, and the bits of its buffers.

Synthesis alone says what they need as a whole.
"""

from __future__ import annotations

from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS

_HALVES = 2
"""Every buffer is there twice: one is filled while the other is used."""


def memory_bits(spec: AcceleratorSpec) -> int:
    """Of the buffers."""
    return sum(spec.buffers.values()) * WORD_BITS * _HALVES


def multipliers(spec: AcceleratorSpec) -> int:
    """DSP48 of the products: the array's, or those of windows, which have no neighbours."""
    # Here: few of the commands that import us need Amaranth.
    from axiloom.hw.array.mac_array import Columns
    from axiloom.hw.soc.accelerator import ENGINES

    if spec.form.saves:
        return spec.macs * Columns(spec.data_type.bits, 1, longest=1).multipliers
    array = ENGINES[spec.form.name].sizes(spec)
    rows: int = array.rows
    return rows * Columns(spec.data_type.bits, array.cols, longest=1).multipliers
