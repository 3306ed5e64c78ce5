"""Runs instruction sets, an instruction a call: each becomes a NumPy function when it comes first.

- :mod:`~axiloom.isa.instructions.simulator.simulate`: the simulator; ``state``: what a device holds
- :mod:`~axiloom.isa.instructions.simulator.decode`: which instruction comes
- :mod:`~axiloom.isa.instructions.simulator.blocks`: statements, lanes and loops as NumPy code
- :mod:`~axiloom.isa.instructions.simulator.nests`: which loops run at once; ``linear``: indices as sums
- :mod:`~axiloom.isa.instructions.simulator.code`: expressions; ``values``, ``memories``, ``sums``
- :mod:`~axiloom.isa.instructions.simulator.parts`: what the code calls
- :mod:`~axiloom.isa.instructions.simulator.reference`: a text executed element by element, for comparison
"""
