"""Order and addresses: what an instruction set's memories allow.

- ``problem.py``: `Problem` in, `Plan` or `Refusal` out
- ``allocate.py``: `allocate`, which tries the quick way first, and says why there is no plan
- ``listed.py``: an order by priorities, with values loaded again where they do not fit
- ``slots.py``: the best order where all values of a memory have one size
"""

from axiloom.selection.allocate.allocate import allocate
from axiloom.selection.allocate.problem import Executed, Memory, Plan, Problem, Refusal, Step

__all__ = ["Executed", "Memory", "Plan", "Problem", "Refusal", "Step", "allocate"]
