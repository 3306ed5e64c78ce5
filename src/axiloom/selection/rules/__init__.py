"""Equations between graphs, with their proofs.

- ``rule.py``: `Rule`, its patterns; ``expressions.py``: sizes, attributes and conditions, as expressions
- ``text.py``: ``.rules`` texts, read with Python's grammar and never executed; ``library.py``: ours, by name
- ``match.py``: what a match binds; ``make.py``: the right side with its types
- ``prove/``: each rule's two sides, element by element
- ``*.rules``: our rules, a family a file
"""

from axiloom.selection.rules.rule import Rule, RuleError

__all__ = ["Rule", "RuleError"]
