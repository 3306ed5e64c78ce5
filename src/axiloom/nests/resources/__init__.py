"""What a circuit takes of an FPGA, in milliseconds: the figures of Yosys, foretold.

- ``amount.py``: DSP slices, LUTs, flip-flops, block RAMs
- ``estimate.py``: of a `Circuit`, in parts; ``pipe.py``: of one pipe; ``forms.py``: of its addresses and
  guards; ``ports.py``: between accesses and banks; ``sampled.py``: which of their addresses
  are equal; ``pieces.py``: multiplexers, delay lines, RAM

It mirrors ``hw/nest``: who changes what is built there changes what is counted here, and
``python -m benchmarks nest_resources`` says whether the two agree.
"""

from axiloom.nests.resources.amount import Amount
from axiloom.nests.resources.estimate import Estimate, estimate

__all__ = ["Amount", "Estimate", "estimate"]
