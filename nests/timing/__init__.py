"""Cycles of a circuit, exact."""
