"""Cycles of circuits, exact and without RTL, and the smallest FIFOs that cost none.

- ``iterations.py``: a pipe's iterations as arrays; ``events.py``: which of them pop and push
- ``solver.py``: issue times; ``deadlock.py``: why there are none
- ``timing.py``: `cycles`, `Timing`: cycles, stalls, occupancy (``occupancy.py``); ``chart.py``: the same as
  plain data
- ``depths.py``: `fit`: the smallest depth of each FIFO
- ``execute.py``: `execute`: what a circuit computes, cycle by cycle, for small ones
"""

from axiloom.nests.timing.deadlock import DeadlockError
from axiloom.nests.timing.depths import Depths, fit
from axiloom.nests.timing.events import Rate
from axiloom.nests.timing.occupancy import Occupancy
from axiloom.nests.timing.timing import Timing, cycles, deadlock

__all__ = ["DeadlockError", "Depths", "Occupancy", "Rate", "Timing", "cycles", "deadlock", "fit"]
