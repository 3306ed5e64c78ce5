"""From an application to a program of a machine's instructions.

- ``graphs.py``: `compile_graph`, the whole way; ``relevant.py``: which rules are tried, near ones first;
  ``identities.py``: products with an identity, where an instruction multiplies and none moves
- ``target.py``: `Target`, an instruction set with meanings and costs; ``offered.py``: what it computes in
  blocks of commands, as selection sees it
- ``cover.py``: instructions for a saturated graph: which value in which memory; ``views.py``: values of the
  host's memory that are parts of others
- ``place.py``: order and addresses of what was chosen, by constraints; ``spill.py``: with values put aside,
  in one of the orders of ``order.py``; ``steps.py``: `Do`, what both give
- ``layout.py``: where values lie in the host's memory; ``assemble.py``: commands with their words
"""
