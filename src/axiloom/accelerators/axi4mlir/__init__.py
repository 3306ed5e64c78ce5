"""What the published AXI4MLIR writes: its configuration files, its annotations, and the drivers it makes.

- ``paper_form.py``, ``flat_form.py``: configuration files of the paper and older ones, as specifications
- ``annotations.py``: attributes of ops of linalg, as our trait
- ``waits.py``: opcodes that only receive, in both of them
- ``drivers/``: drivers in MLIR, as C
"""

from pathlib import Path

from axiloom.base.accelerators import Accelerator

ACCELERATOR = Accelerator(
    "axi4mlir",
    Path(__file__).parent,
    files="axiloom.accelerators.axi4mlir.paper_form:FORMS",
    annotations="axiloom.accelerators.axi4mlir.annotations:ANNOTATIONS",
    drivers="axiloom.accelerators.axi4mlir.drivers.program:DRIVERS",
)
