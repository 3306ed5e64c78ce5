"""ATen operations of exported programs, by their names. A family is a file here and an entry of the registry.

- ``call.py``: `Call`, an operation with its arguments, as rules see it
- ``arithmetic.py``, ``moves.py``, ``sums.py``, ``network.py``, ``recurrent.py``: families
- ``registry.py``: names to rules
"""
