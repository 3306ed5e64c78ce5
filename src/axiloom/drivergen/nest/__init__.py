"""A nest of tile loops with transfers in it: the view that passes and costs share.

- ``nest.py``: the nest, and its plan in numbers
- ``flow.py``: the plan of an op, before it is placed; ``tile.py``: how a tile lies in memory
- ``packed.py``: constant operands, packed before anything runs
"""
