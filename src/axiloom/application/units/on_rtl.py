"""A part of a call as a program on a unit's RTL, in Verilator: each packet is compared with the text's."""

from __future__ import annotations

import numpy as np

from axiloom.application.units.counts import Array
from axiloom.device.programs import execute
from axiloom.device.rtl import DeviceRtl
from axiloom.selection.drive.execute import Values
from axiloom.selection.program.program import Program


def result(on: DeviceRtl, program: Program, **values: Array) -> Array:
    """The program's result ``y``. Raises DriverError for a packet that has other bytes than its text."""
    inputs: Values = {name: np.asarray(value) for name, value in values.items()}
    return np.asarray(execute(on, program, inputs).results["y"])
