"""Attention on rows of bfloat16.

- ``qkv.isa``, ``qkv_double.isa``, ``rows64.isa``: the instruction sets; ``qkv_softmax.mapping``
- ``rtl/``: their RTL, with the cycles that it takes
"""

from pathlib import Path

from axiloom.base.accelerators import Accelerator

ACCELERATOR = Accelerator("qkv", Path(__file__).parent, rtl="axiloom.accelerators.qkv.rtl.maker:MAKER")
