"""Yosys of the Python environment, and what it says a design takes of a device."""
