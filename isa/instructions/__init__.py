"""Instruction sets with meaning: texts that say memories, registers, and what each instruction computes.

- :mod:`~axiloom.isa.instructions.tree`: what a text says, as a tree whose values have ranges
- :mod:`~axiloom.isa.instructions.arithmetic`, ``expressions``, ``read``: texts to trees
- :mod:`~axiloom.isa.instructions.externals`: functions that proofs know by name alone
- :mod:`~axiloom.isa.instructions.simulate`: runs them; ``numpy_blocks``, ``numpy_code``: trees to NumPy, of which
  ``nests`` says what loops run at once, and ``linear`` what indices are; ``reference``: element by element
- :mod:`~axiloom.isa.instructions.page`: a page of documentation

The same tree as a formal model: :mod:`axiloom.isa.formal.programs`.
"""
