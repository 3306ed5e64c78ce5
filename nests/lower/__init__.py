"""From a schedule to a circuit: lanes, banks, slots.

- ``space.py``: the counters of a pipe and the points they reach
- ``iteration/``: what one iteration does; ``slots/``: when
- ``layouts.py``: where elements lie in banks; ``partition.py``: banks that suit the lanes
- ``passing.py``: FIFOs in the place of memory, tokens
- ``pipe.py``: one pipe; ``lower.py``: all of it; ``explain.py``: what was decided, for people
"""

from axiloom.nests.lower.explain import explain, summary
from axiloom.nests.lower.layouts import BankLayout
from axiloom.nests.lower.lower import Lowered, lower

__all__ = ["BankLayout", "Lowered", "explain", "lower", "summary"]
