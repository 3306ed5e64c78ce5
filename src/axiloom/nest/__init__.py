"""Runs circuits of loop nests: their RTL in a simulator, with external memories and streams around it.

- ``run.py``: :func:`run`, arrays in, arrays and cycles out
- ``build.py``: the simulator's program, by Verilator; ``main.cpp`` is what surrounds the circuit
- ``resident.py``: a schedule with the caller's arrays around it; ``measure.py``: its cycles and its bound
  foretold, and a run beside the reference; ``values.py``: random inputs
- ``referee.py``: a file of C, compiled by the host and called; ``reference.py``: what a circuit must compute;
  ``compare.py``: arrays, bit for bit
- ``progress.py``: what a long run is at; ``emit.py``: schedules as text
- ``driver.py``: a nest behind a DMA as a C function with the signature of the user's
"""

from axiloom.nest.run import NestError, Outcome, Pauses, run, runs

__all__ = ["NestError", "Outcome", "Pauses", "run", "runs"]
