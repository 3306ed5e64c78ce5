"""The open flow for Lattice ECP5: from Verilog to a bitstream and its clock.

- ``synthesis.py``: Yosys, and what it is told (``product.v``, ``multiplier.v``)
- ``nets.py``: who drives a net; ``copies.py``, ``registers.py``, ``outputs.py``: changes of the netlist
  before it is placed
- ``nextpnr.py``: place, route, pack; ``pll.py``: the clock
- ``enclosure.py``: a SoC between registers, to tell its clock
"""
