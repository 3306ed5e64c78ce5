"""From a schedule to a circuit: lanes, banks, slots.

- ``space.py``: the counters of a pipe and the points they reach; ``guards.py``: conditions on them
- ``lanes.py``: instances of statements that are issued together
- ``layouts.py``: where elements lie in banks; ``partition.py``: banks that suit the lanes
- ``graph.py``: what one iteration does, as nodes without slots
- ``carried.py``: how soon an iteration meets the elements of another one
- ``modulo.py``: slots and the interval
- ``lower.py``: all of it, for all nests
"""

from axiloom.nests.lower.layouts import BankLayout
from axiloom.nests.lower.lower import Lowered, lower

__all__ = ["BankLayout", "Lowered", "lower"]
