"""Nests behind one AXI4-Stream port each way, which is what a DMA and a SoC connect to.

- ``packet.py``: `Packet`, the order in which arrays pass a port, and their words in NumPy
- ``through.py``: a schedule whose arrays are local, filled from one stream and drained to another
- ``overlap.py``: what nests may do while words come in, and which arrays come in blocks
- ``tokens.py``: that in a circuit, by the nests within its pipes (``phase.py``); ``folds.py``: memories that
  hold some blocks of an array; ``streams.py``: memories that are touched in order become ports
- ``compile.py``: all of it: from a schedule to a circuit with ports
"""

from axiloom.nests.ports.compile import Compiled, compile_ports
from axiloom.nests.ports.packet import Packet, Part, packets

__all__ = ["Compiled", "Packet", "Part", "compile_ports", "packets"]
