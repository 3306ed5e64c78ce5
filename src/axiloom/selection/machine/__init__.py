"""What instructions compute on tensors, derived from their text.

- ``terms.py``: `Terms`, values of elements as terms, equal ones once; ``algebra.py``: operations' elements as
  such terms
- ``execute.py``: an instruction on memories of terms: what it reads, what it writes
- ``kernels.py``: operations that an instruction may be, a registry; ``derive.py``: `Meaning`: which of them
  it is, element by element
"""
