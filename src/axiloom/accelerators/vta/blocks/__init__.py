"""Matrix products and convolutions of int8 on commands for blocks, as VTA's: tiles that fit its memories.

- ``sizes.py``: `Sizes`: blocks and memories of a text
- ``host.py``: `Host`: arrays in the host's memory, micro-ops, commands: what a program is put together from
- ``epilogue.py``: `Requantise`: a bias, a shift and a clip of accumulators
- ``matmul.py``, ``conv.py``: the two kinds of layers, as programs
- ``prefetch.py``: memories in halves, and loads ahead of what is computed
- ``sums.py``: which operations of the IR are such layers, a registry; ``match.py``: layers in a saturated
  graph
- ``block.py``: `Block`, a program as one step of a larger one; ``offers.py``: `offers`, what selection asks
"""
