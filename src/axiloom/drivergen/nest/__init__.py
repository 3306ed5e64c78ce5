"""A nest of tile loops with transfers in it: the view that passes and costs share.

- ``nest.py``: the nest; ``moves.py``: in numbers; ``matrix.py``: the tiles of a matrix, and lines under them
- ``flow.py``: what a flow moves of an op, before it is placed; ``tile.py``: how a tile lies in memory
- ``layout.py``: its packets; ``locality.py``: what it reads from memory again
- ``packed.py``: constant operands, packed before anything runs
"""
