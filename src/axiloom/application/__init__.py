"""A whole application on its data, with the operators that accelerators take in the accelerators' numbers.

- ``numbers/``: what accelerators make of raw numbers, whole arrays at a time
- ``units/``: which operations a unit takes, and how a host prepares numbers for it
- ``offload.py``: a graph's operations to units
- ``select.py``: units for the whole application at once, by equality saturation; ``cycles.py``: their costs
- ``model.py``, ``data.py``, ``metrics.py``: what the user brings, and what it is judged by
- ``run.py``: the graph in float32 and in the accelerators' numbers side by side
- ``choose.py``: exponents and scales, by a checked pass
- ``advise.py``: what to change, and what each change gives
- ``replay.py``: sampled calls again, by commands
- ``result.py``, ``text.py``, ``page.py``: what was found: as data, in the terminal, as a page
"""
