"""How long a way to use an accelerator takes, without a simulation.

- ``model.py``: the cost model; ``traffic.py``: what it counts
- ``selection.py``: every flow, order and tile; ``products.py``, ``plans.py``: plans of these
- ``conv.py``, ``conv_tiles.py``: the same for convolutions
- ``alone.py``: what the device needs alone; ``leaving.py``: results that leave while a tile is computed
- ``neon.py``: the kernels on the CPU alone
- ``stream_words.py``: words of one op; ``constants.json``, ``replay_costs.json``: fitted numbers
"""
