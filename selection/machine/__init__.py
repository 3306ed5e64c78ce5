"""What instructions compute on tensors, derived from their text, and which of them make an application.

- ``terms.py``: `Terms`, values of elements as terms, equal ones once; ``algebra.py``: operations' elements as
  such terms
- ``execute.py``: an instruction on memories of terms: what it reads, what it writes
- ``kernels.py``: operations that an instruction may be, a registry; ``derive.py``: `Meaning`: which of them
it
  is, element by element
- ``cover.py``: instructions for a saturated graph: which value in which memory
- ``place.py``: order and addresses of what was chosen; ``compile.py``: from a graph to a program
"""
