"""Instruction sets with meaning: texts that say memories, registers, and what each instruction computes.

- :mod:`~axiloom.isa.instructions.tree`: what a text says, as a tree whose values have ranges
- :mod:`~axiloom.isa.instructions.arithmetic`, ``expressions``, ``procedures``, ``read``: texts to trees
- :mod:`~axiloom.isa.instructions.externals`: functions that proofs know by name alone
- :mod:`~axiloom.isa.instructions.walk`, ``unique``, ``text``: what is in a tree, its names, as it is written
- :mod:`~axiloom.isa.instructions.simulator`: runs a text, an instruction a call
- :mod:`~axiloom.isa.instructions.mappings`: kernels, and the commands that are said to compute them
- :mod:`~axiloom.isa.instructions.engines`: tokens between the engines of a device
- :mod:`~axiloom.isa.instructions.library`: what comes with Axiloom, by name; ``page``: its documentation

The same tree as a formal model: :mod:`axiloom.isa.formal.programs`.
"""
