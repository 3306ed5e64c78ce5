"""Units of accelerators: which operations they take, and how a host prepares their numbers.

- ``unit.py``: `Unit`, `Operator`, `Knob`: what every unit says of itself
- ``rows.py``: products with weights as matrices: dense layers, and convolutions as windows
- ``flexasr_linear.py``, ``flexasr_lstm.py``, ``hlscnn_conv.py``, ``vta_gemm.py``: a unit each
- ``registry.py``: accelerators to their units
"""
