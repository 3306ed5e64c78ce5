"""Opcode maps as instruction sets: an opcode is an instruction, a tile that travels a memory of the host's.

- ``reader.py``: a specification of opcodes as an instruction set and its framing
- ``state.py``: registers and memories of a kernel's part of the device; sizes as expressions
- ``kernels.py``: what a compute does, for each form of a kernel
- ``framing.py``: which words of the stream belong to an instruction
- ``model.py``: the functional model: words in, words out
"""
