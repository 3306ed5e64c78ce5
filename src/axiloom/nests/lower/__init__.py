"""From a schedule to a circuit: lanes, banks, slots.

- ``iteration/``: the counters of a pipe, and what one iteration does; ``slots/``: when
- ``banks/``: where the elements of arrays lie
- ``passing.py``: FIFOs in the place of memory, tokens
- ``pipe.py``: one pipe; ``lower.py``: all of it; ``explain.py``: what was decided, for people
"""

from axiloom.nests.lower.banks.layouts import BankLayout
from axiloom.nests.lower.explain import explain, summary
from axiloom.nests.lower.lower import Lowered, lower

__all__ = ["BankLayout", "Lowered", "explain", "lower", "summary"]
