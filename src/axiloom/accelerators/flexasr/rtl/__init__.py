"""Vectors of AdaptivFloat bytes: the RTL of texts like ``flexasr_units.isa``.

- ``meanings.py``: what each unit does, in the language of texts; a text is compared with it. What numbers the
  bytes are, and what sigmoid and tanh are, are the text's own functions
- ``device.py``: `Device`: the units behind streams of commands and results
- ``moves.py``: vectors between the streams and the memories; ``pool.py``: pairs of vectors to one
- ``product.py``: 16 rows of weights by a vector, a row a cycle
- ``activate.py``: an instruction of an activation program, an element a cycle
- ``cycles.py``: how many cycles each command takes
"""
