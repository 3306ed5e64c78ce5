"""Circuits from loop nests: resources, widths of ports and FIFOs, and schedules that are found."""
