"""Order and addresses: what an instruction set's memories allow.

- ``problem.py``: `Problem` in, `Plan` or `Refusal` out
- ``allocate.py``: `allocate`, which tries the quick way first
- ``why.py``: why there is no plan
- ``bounds.py``: what no plan can do better, and what cannot be at all
- ``listed.py``: an order by priorities, with values loaded again where they do not fit
- ``slots.py``: the best order where all values of a memory have one size
- ``lives.py``: rows in use at once, of values whose lifetimes are known
- ``exact.py``: order and addresses at once, by CP-SAT, in a process of its own
- ``check.py``: `faults`, which replays a plan and shares nothing with what made it
"""

from axiloom.selection.allocate.allocate import allocate
from axiloom.selection.allocate.check import faults
from axiloom.selection.allocate.problem import Memory, Placed, Plan, Problem, Refusal, Step, Value

__all__ = ["Memory", "Placed", "Plan", "Problem", "Refusal", "Step", "Value", "allocate", "faults"]
