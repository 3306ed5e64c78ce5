"""Hardware of scheduled loop nests: pipelines over banked memories and FIFOs.

- ``circuit.py``: `Circuit`, what is built, as data: every slot, bank and address is decided
- ``operators/``: arithmetic, each operator with its latency and its cost
"""
