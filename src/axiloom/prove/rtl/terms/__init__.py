"""Verilog as terms, and what makes two terms the same."""
