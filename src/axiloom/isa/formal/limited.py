"""z3 with a limit of work: with one of time, a busy machine would say less than an idle one."""

from __future__ import annotations

import z3

UNITS = 3_500_000
"""Of z3's resource that an idle core spends in a second, more or less: it hangs on what is asked."""
QUICK_S, LONG_S = 2, 20
"""Of a question among many; of one on which much hangs."""


def solver(seconds: float, logic: str = "") -> z3.Solver:
    """One that says `unknown` after about so many seconds of an idle core in a question."""
    limited = z3.SolverFor(logic) if logic else z3.Solver()
    limited.set("rlimit", round(seconds * UNITS))
    return limited
