"""Attention on rows of bfloat16: the RTL of texts like ``isa/targets/qkv.isa``.

- ``numbers/``: sums, products, exponentials and quotients, as the texts name them
"""
