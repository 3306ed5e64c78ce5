"""From Amaranth to Verilog that people read.

- ``emit.py``: prints a top module
- ``tidy.py``: makes Yosys' text readable, with ``inline.py``, ``names.py`` and ``process.py``
"""
