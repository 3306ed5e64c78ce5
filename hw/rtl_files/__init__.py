"""Verilog files as tools read them: the user's ports (``user_rtl.py``), the linter, and where Verilator
is."""
