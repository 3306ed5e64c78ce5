"""Schedules as values: when each instance of each statement is executed, and on what.

- ``schedule.py``: `Schedule` and what it consists of; ``plan.py``: `Plan`, how nests wait for each other
- ``registry.py``: primitives by name, which are methods of schedules too
- ``legality.py``: which instances a schedule would swap; ``errors.py``: what a primitive raises
- ``replay.py``: schedules as text
- ``show.py``: loops, dependences and their graph for people
- ``loops.py``: what primitives are made of; ``primitives/``: the primitives
"""

from axiloom.hw.nest.circuit import Storage
from axiloom.nests.schedule.schedule import Cyclic, Hyperplane, Layout, Nest, Placed, Schedule

__all__ = ["Cyclic", "Hyperplane", "Layout", "Nest", "Placed", "Schedule", "Storage"]
