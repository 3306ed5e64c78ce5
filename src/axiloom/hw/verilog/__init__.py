"""From Amaranth to Verilog that people read.

- ``emit.py``: prints a top module; ``nest.py``: a circuit of loop nests
- ``tidy.py``: makes Yosys' text readable, with ``inline.py``, ``names.py`` and ``process.py``
"""
