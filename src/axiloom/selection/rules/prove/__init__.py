"""Proofs of rules: both sides, element by element, for all sizes where that can be done.

- ``sizes.py``: `Size`, an integer that may be any; ``conditions.py``: what is said of it;
  ``context.py``: what is assumed, and what follows
- ``terms.py``: elements as terms, and `Terms`, the algebra that makes them
- ``equal.py``: whether two terms are the same; ``walks.py``: ways through them; ``scans.py``: sequences of
  steps, by induction; ``arithmetic.py``: what numbers know, by polynomials and z3
- ``cases.py``: ranks, numbers and attributes that a rule is about; ``proof.py``: a rule's proof
- ``search.py``: a counter-example: shapes and values on which both sides differ, by `evaluate`
- ``verdicts.py``: `Proof`, what is known of a rule
- ``proved.py``: proofs by content in the user's cache, and `usable`, the rules that are proved
"""
