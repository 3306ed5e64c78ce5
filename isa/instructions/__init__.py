"""Instruction sets with meaning: texts that say memories, registers, and what each instruction computes.

- :mod:`~axiloom.isa.instructions.tree`: what a text says, as a tree whose values have ranges
- :mod:`~axiloom.isa.instructions.arithmetic`, ``expressions``, ``read``: texts to trees
- :mod:`~axiloom.isa.instructions.externals`: functions that proofs know by name alone
- :mod:`~axiloom.isa.instructions.simulate`: runs them, an instruction as one function of NumPy calls
- :mod:`~axiloom.isa.instructions.numpy_blocks`, ``numpy_code``, ``_memories``, ``_sums``: these functions;
  ``nests``: which loops run at once; ``linear``: indices as sums; ``reference``: the text element by element
- :mod:`~axiloom.isa.instructions.page`: a page of documentation

The same tree as a formal model: :mod:`axiloom.isa.formal.programs`.
"""
