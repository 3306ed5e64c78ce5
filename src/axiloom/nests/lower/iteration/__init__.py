"""What one iteration of a pipe does.

- ``space.py``: the counters of a pipe and the points they reach
- ``guards.py``: conditions on counters; ``lanes.py``: instances of statements that are issued together
- ``graph.py``: vertices without slots; ``share.py``: operations of phases that exclude each other become one
- ``numbers.py``: bits of formats and literals; ``narrow.py``: integers in as few bits as they need
"""
