"""The system on chip around accelerators.

- ``accelerator.py``: which engine executes a specification
- ``soc.py``: one accelerator with its DMA
- ``user.py``: the user's RTL in the accelerator's place, and what stands between its ports and ours
- ``model.py``: the place of the functional model, which only simulators have
- ``watched.py``: what watches the channels in a simulation
- ``shared.py``: several accelerators behind one set of ports
"""
