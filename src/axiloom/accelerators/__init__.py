"""Accelerators of published papers, and ours: a folder each, with all that Axiloom knows of it.

A folder has instruction sets (``.isa``), mappings, patterns and a README, and as far as they exist RTL, units
of networks and programs by hand. Its ``__init__`` says what it brings (:mod:`axiloom.base.accelerators`).
No other room imports one of them: packages of other people come the same way.
"""
