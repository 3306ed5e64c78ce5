"""Texts of XLA: StableHLO as JAX prints it, and HLO's own text. Both become functions of statements.

- ``program.py``: functions and statements, with attributes under StableHLO's names
- ``lexer.py``, ``literals.py``: tokens with limits and places; contents of constants
- ``stablehlo.py``, ``classic.py``: the two texts
- ``rules.py``, ``folds.py``: what a statement becomes in the graph; ``build.py``: functions to a graph
"""
