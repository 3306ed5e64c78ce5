"""Units of accelerators: which operations they take, and how a host prepares their numbers.

- ``unit.py``: `Unit`, `Operator`, `Knob`: what every unit says of itself
- ``rows.py``: products with weights as matrices: dense layers, and convolutions as windows
- ``weights.py``: weights are prepared once; ``on_rtl.py``: a part of a call on a unit's RTL

Accelerators bring the units themselves (:mod:`axiloom.base.accelerators`).
"""
