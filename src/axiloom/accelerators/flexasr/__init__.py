"""Speech: products, an activation unit, pooling, layer norm and attention on AdaptivFloat bytes.

- ``flexasr.isa``: the accelerator as published; ``flexasr_units.isa``: one element's units behind a DMA
- ``flexasr.kernels``, ``*.mapping``: what it computes, as patterns and as proved mappings
- ``host.py``: what a host writes for a layer; ``layers.py``: layers on the units; both by hand
- ``linear.py``, ``lstm.py``: its units for networks; ``numbers.py``: the same on whole arrays; ``on_rtl.py``
- ``rtl/``: RTL of the units
"""

from pathlib import Path

from axiloom.base.accelerators import Accelerator

ACCELERATOR = Accelerator(
    "flexasr",
    Path(__file__).parent,
    rtl="axiloom.accelerators.flexasr.rtl.maker:MAKER",
    units="axiloom.accelerators.flexasr.units:UNITS",
)
