"""What accelerators make of raw numbers, whole arrays at a time; bit for bit what their texts do.

- ``counts.py``: `Counts`, how many numbers saturated, were flushed, wrapped
- ``flexasr.py``: FlexASR's products and its activation unit, of ``isa/targets/flexasr.isa``
- ``hlscnn.py``: HLSCNN's convolution, of ``isa/targets/hlscnn.isa``
- ``vta.py``: VTA's product and the ALU after it, of ``isa/targets/vta.isa``

The texts are the definition. They run a command at a time; these are made for data sets, and
``tests/application/numbers`` compares the two.
"""
