"""From a schedule to a circuit: lanes, banks, slots.

- ``space.py``: the counters of a pipe and the points they reach; ``guards.py``: conditions on them
- ``lanes.py``: instances of statements that are issued together
- ``layouts.py``: where elements lie in banks; ``partition.py``: banks that suit the lanes
- ``graph.py``: what one iteration does, as vertices without slots; ``share.py``: operations of phases that
  exclude each other become one; ``passing.py``: FIFOs in the place of memory, tokens
- ``carried.py``: how soon an iteration meets the elements of another one; ``constraints.py``: ports of banks;
  ``recurrences.py``; ``waits.py``: iterations that do nothing, where phases change
- ``modulo.py``: slots and the interval; ``late.py``: loads as late as their value is in time;
  ``bind.py``: operations in different slots of the interval on one unit
- ``pipe.py``: one pipe; ``lower.py``: all of it; ``explain.py``: what was decided, for people
- ``numbers.py``: bits of formats and literals
"""

from axiloom.nests.lower.explain import explain, summary
from axiloom.nests.lower.layouts import BankLayout
from axiloom.nests.lower.lower import Lowered, lower

__all__ = ["BankLayout", "Lowered", "explain", "lower", "summary"]
