"""Equality saturation: all that rules make of a graph, and the cheapest of it.

- ``saturated.py``: `Saturated`, classes of equal values, as plain data; `Limits`
- ``declare.py``: rules as egglog's text; ``engine.py``: an egglog e-graph that takes graph after graph
- ``saturation.py``: `saturate`, by an engine in a process of its own, warm, which can be killed
- ``constants.py``: classes that follow from constants alone, and their contents
- ``problem.py``: what can be made, and its cost; ``extract.py``: the cheapest graph, each node counted once;
  ``exact.py``: proved cheapest, by ``branches.py`` or CP-SAT; ``parts.py``: what can be solved one by one
"""

from axiloom.selection.egraph.extract import Extracted, extract
from axiloom.selection.egraph.saturated import ENode, Limits, Saturated, SaturationError
from axiloom.selection.egraph.saturation import saturate

__all__ = ["ENode", "Extracted", "Limits", "Saturated", "SaturationError", "extract", "saturate"]
