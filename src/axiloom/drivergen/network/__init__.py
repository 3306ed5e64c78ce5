"""Whole networks: from a function with many ops to C that runs its layers on accelerator and CPU.

- ``compile.py``: `compile_network`, the steps in their order
- ``passes/``: before the cut: own_inits, fold_constants, fold_casts, fold_transposes, fuse_elementwise
- ``generics.py``: questions about `linalg.generic` that these passes ask
- ``offers.py``: who would execute which product, with what: what a choice is made from
- ``layers.py``: what a layer is, and what it is called; ``outline.py``: cutting the network into layers
- ``constants.py``: weights as the layers' drivers want them, packed once
- ``lives.py``: which memory each tensor lies in; ``memory.py``: the plan of the arena
- ``values.py``: what each layer takes and gives, by NumPy
- ``cpu/``: layers of the CPU by hand; ``neon.py``: products by the kernels of ``sw/baselines``
- ``emit.py``: the C that calls the layers; ``inputs.py``: what a text holds before it is compiled
"""

from axiloom.drivergen.network.compile import NetworkDriver, compile_network
from axiloom.drivergen.network.inputs import is_network, network_data_type
from axiloom.drivergen.network.layers import Layer
from axiloom.drivergen.network.memory import Buffer, MemoryPlan, plan

__all__ = [
    "Buffer",
    "Layer",
    "MemoryPlan",
    "NetworkDriver",
    "compile_network",
    "is_network",
    "network_data_type",
    "plan",
]
