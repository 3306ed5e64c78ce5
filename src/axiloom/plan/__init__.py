"""What a driver sends and receives, in order, in loops over the host's arrays: a `Plan`, and what it costs.

- ``tree.py``: the types; ``numbers.py``: a number is an int, or an array with one value a candidate
- ``figures.py``: what a plan moves, by one walk
- ``rewrite.py``: tiles that stay on the device, loops in blocks
- ``packets.py``: which iterations go into one packet; ``caches.py``, ``blocks.py``: which loop goes in blocks
"""

from axiloom.plan.figures import Figures, figures
from axiloom.plan.numbers import Num
from axiloom.plan.tree import (
    Command,
    Field,
    Level,
    Loop,
    Packets,
    Plan,
    Queue,
    Receive,
    Region,
    Register,
    Send,
    Span,
    Window,
    Words,
)

__all__ = [
    "Command",
    "Field",
    "Figures",
    "Level",
    "Loop",
    "Num",
    "Packets",
    "Plan",
    "Queue",
    "Receive",
    "Region",
    "Register",
    "Send",
    "Span",
    "Window",
    "Words",
    "figures",
]
