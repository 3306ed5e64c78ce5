"""Products and convolutions of int8 by blocks, with micro-ops and an ALU.

- ``vta.isa``: the accelerator; ``vta.kernels``, ``*.mapping``: what it computes
- ``blocks/``: products and convolutions as programs, in tiles that fit its memories
- ``matmul.py``: a product by hand
- ``gemm.py``: its unit for networks; ``numbers.py``: the same on whole arrays; ``replay.py``, ``on_rtl.py``
- ``rtl/``: its RTL
"""

from pathlib import Path

from axiloom.base.accelerators import Accelerator

ACCELERATOR = Accelerator(
    "vta",
    Path(__file__).parent,
    rtl="axiloom.accelerators.vta.rtl.maker:MAKER",
    units="axiloom.accelerators.vta.gemm:UNITS",
    offers="axiloom.accelerators.vta.blocks.offers:offers",
)
