"""A nest of tile loops with transfers in it: the view that passes and costs share.

- ``nest.py``: the nest; ``moves.py``: in numbers; ``matrix.py``: the tiles of a matrix, and lines under them
- ``layout.py``: its packets; ``locality.py``: what it reads from memory again
- ``packed.py``: constant operands, packed before anything runs
"""
