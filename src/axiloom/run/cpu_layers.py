"""How long the layers of a network take that stay on the CPU, for what a whole network is predicted to take.

Cycles an element for each op of a layer, measured on TinyBERT, ResNet18 and MobileNet-V2 on the PYNQ-Z2's
profile, where these layers are vectorised. :mod:`axiloom.run.costs` chooses between CPU and accelerators, and
has its own figures: of plain loops, and with doubt on the side of the CPU.

What layers on the CPU are predicted to take is not what the choice between CPU and accelerators counts.
The choice has costs of plain loops, which are mostly 2 to 3 times what the vectorised layers take (a pool
11 times), and its results were compared with simulations (``select_networks``). The prediction has cycles
an element of the vectorised layers. One set for both would be better; it needs that comparison again.
"""

from __future__ import annotations

from collections.abc import Iterable

from axiloom.boards import Board
from axiloom.drivergen.network.offers import Step
from axiloom.run.costs import PRODUCT, VECTOR

OPERATION, LEAST = 0.42, 0.6
"""CPU cycles of an operation on an element; of an element at least: it is read and written."""
WIDE = 2.6
"""... of an operation in 64 bits, which no vector unit does."""
LOOKUP = 2.6
"""... of an element that is looked up in a table, besides: each by itself."""
LAYER = 8_000.0
"""CPU cycles of a layer besides: its code and the first lines of what it reads come from memory."""

TABLE = "lookup"
"""How titles of ops begin that look up."""


def seconds(steps: Iterable[Step], board: Board) -> float:
    """Of one layer."""
    return (LAYER + sum(_element(step) * step.iterations for step in steps)) / board.cpu_hz


def _element(step: Step) -> float:
    if step.product:
        return VECTOR if step.rows == 1 else PRODUCT
    own = max(step.operations * (WIDE if step.wide else OPERATION), LEAST)
    return own + (LOOKUP if step.title.startswith(TABLE) else 0.0)
