"""Instruction sets with meaning: texts that say memories, registers, and what each instruction computes.

- :mod:`~axiloom.isa.instructions.tree`: what a text says, as a tree whose values have ranges
- :mod:`~axiloom.isa.instructions.arithmetic`, ``expressions``, ``read``: texts to trees
- :mod:`~axiloom.isa.instructions.externals`: functions that proofs know by name alone
- :mod:`~axiloom.isa.instructions.numpy_code`, ``simulate``: trees to NumPy, an instruction a call

The same tree as a formal model: :mod:`axiloom.isa.formal.programs`.
"""
