"""When each vertex of a pipe is executed.

- ``carried.py``: how soon an iteration meets the elements of another one (``distances.py``: where there are
  too many to enumerate); ``constraints.py``: ports of banks
- ``modulo.py``: slots and the interval; ``alap.py``: loads as late as their value is in time;
  ``places.py``: the port of each access
- ``recurrences.py``: which operators may need shorter latencies; ``waits.py``: iterations that do nothing,
  where phases change; ``bind.py``: operations in different slots of the interval on one unit
"""
