"""Verilog files as tools read them.

- ``ports.py``: the ports of a module, and the buses that their names make of them
- ``user_rtl.py``: the user's accelerator: which of its ports is which
- ``vhdl.py``: VHDL, as the Verilog that GHDL makes of it
- ``lint.py``: what Verilator's linter says
- ``verilator.py``: where Verilator is
"""
