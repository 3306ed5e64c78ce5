"""Schedules as values: when each instance of each statement is executed, and on what.

- ``schedule.py``: `Schedule` and what it consists of; ``plan.py``: `Plan`, how nests wait for each other
"""

from axiloom.hw.nest.circuit import Storage
from axiloom.nests.schedule.schedule import Cyclic, Hyperplane, Layout, Nest, Placed, Schedule

__all__ = ["Cyclic", "Hyperplane", "Layout", "Nest", "Placed", "Schedule", "Storage"]
