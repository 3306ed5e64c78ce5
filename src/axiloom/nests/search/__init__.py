"""The choice of a schedule.

- ``limits.py``: what a design may take
- first stage, ``structures.py``: which statements stand in a nest, and its order of loops;
  ``arrange.py``: which nests take turns in a pipe, and a point as text
- second stage, ``shapes.py``: a nest and what lanes make of it; ``choices.py``: the declared
  space; ``forecast.py``: a design in closed form; ``branch.py``: branch and bound
- ``exact.py``: a point's circuit; ``points.py``: the file of points
- ``best.py``: all of it
"""

from axiloom.nests.search.best import SearchResult, auto
from axiloom.nests.search.limits import Limits

__all__ = ["Limits", "SearchResult", "auto"]
