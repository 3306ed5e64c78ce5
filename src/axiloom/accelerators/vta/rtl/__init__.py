"""Blocks of int8, accumulators of int32: the RTL of texts like ``vta.isa``.

- ``meanings.py``: what each unit does, in the language of texts; a text is compared with it
- ``device.py``: `Device`: the units behind streams of commands and results
- ``tokens.py``: `Tokens`: what lets loads, computing and stores go on at the same time
- ``load.py``, ``load_uops.py``, ``store.py``: between the streams and the memories
- ``loops.py``: the loops of GEMM and ALU over micro-ops; ``product.py``: a vector by a block, each cycle
- ``vector.py``: accumulators through an operation and back, each cycle; ``operation.py``: one lane of it
- ``cycles.py``: how many cycles a program takes
"""
