"""The system on chip around accelerators.

- ``accelerator.py``: which engine executes a specification
- ``soc.py``: one accelerator with its DMA, or the user's RTL in its place
- ``model.py``: the place of the functional model, which only simulators have
- ``shared.py``: several accelerators behind one set of ports
"""
