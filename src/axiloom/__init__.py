"""Axiloom: hardware, driver and co-simulation of an AXI accelerator from one description.

The way of the data, folder by folder:

- :mod:`axiloom.base`: errors, files, caches, processes: what all rooms need
- :mod:`axiloom.isa`: the contract between software and hardware (``AcceleratorSpec``)
- :mod:`axiloom.hw`: RTL in Amaranth, from a specification to Verilog
- :mod:`axiloom.drivergen`: linalg to a C driver, through xDSL
- :mod:`axiloom.sw`: the C runtime and start-up code that the driver is linked with
- :mod:`axiloom.cosim`: the simulated SoC that runs driver and RTL together
- :mod:`axiloom.boards`: profiles of the boards that are simulated and built for
- :mod:`axiloom.cli`: the ``axiloom`` command
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Only who asks for it pays for the imports; and by name, as this file may know nobody.
    if name == "load":
        return import_module("axiloom.cli.run.loaded").load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
