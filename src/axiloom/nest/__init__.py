"""Runs circuits of loop nests: their RTL in a simulator, with external memories and streams around it.

- ``run.py``: :func:`run`, arrays in, arrays and cycles out
- ``resident.py``: a schedule with the caller's arrays
- ``build.py``: the simulator's program, by Verilator; ``main.cpp`` is what surrounds the circuit
- ``icarus.py``: the same by Icarus Verilog, as a second opinion on small circuits
"""

from axiloom.nest.run import NestError, Outcome, Pauses, run, runs

__all__ = ["NestError", "Outcome", "Pauses", "run", "runs"]
