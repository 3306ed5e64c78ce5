"""What of a board's part a system needs more than there is, by its products and its buffers alone."""

from __future__ import annotations

from collections.abc import Sequence

from axiloom.boards import Board
from axiloom.hw.soc.least import memory_bits, multipliers
from axiloom.isa import AcceleratorSpec

BRAM_BITS = 36 * 1024


def shortage(specs: Sequence[AcceleratorSpec], board: Board) -> str | None:
    """In a sentence; None where there may be room: synthesis says whether there is.

    Accelerators without an array of multipliers need nothing that is known here.
    """
    known = [
        part
        for link in specs
        for part in link.parts[:1]
        if part.form.multiplies and part.form.computes is None
    ]
    limits = board.resources
    needs = (
        (sum(map(multipliers, known)), limits.dsp48, "DSP48"),
        (-(-sum(map(memory_bits, known)) // BRAM_BITS), limits.bram36, "BRAM36"),
    )
    lacking = [f"{used:,} of {limit:,} {what}" for used, limit, what in needs if used > limit]
    if not lacking:
        return None
    return f"simulated as it is, but too large for {board.part}: at least {' and '.join(lacking)}"
