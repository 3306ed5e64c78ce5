"""Accelerators of published papers, and ours: a folder each, with all that Axiloom knows of it.

A folder has a README, and as far as they exist instruction sets (``.isa``), mappings, patterns, RTL, units of
networks, programs by hand, readers of another tool's files. Its ``__init__`` says what it brings
(:mod:`axiloom.base.accelerators`).
No other room imports one of them: packages of other people come the same way.
"""
