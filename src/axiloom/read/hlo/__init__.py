"""Texts of XLA: StableHLO as JAX prints it, and HLO's own text. Both become functions of statements.

- ``program.py``: functions and statements, with attributes under StableHLO's names
- ``lexer.py``, ``literals.py``: tokens with limits and places; contents of constants
- ``stablehlo.py`` with ``attributes.py``, ``classic.py``: the two texts
- ``call.py``: a statement as rules see it; ``rules.py``, ``products.py``, ``folds.py``: what it becomes
- ``build.py``: functions to a graph
"""
