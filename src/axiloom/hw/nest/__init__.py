"""Hardware of scheduled loop nests: pipelines over banked memories and FIFOs.

- ``circuit.py``: `Circuit`, what is built, as data: every slot, bank and address is decided
- ``operators/``: arithmetic, each operator with its latency and its cost
- ``accelerator.py``: `NestAccelerator`, a circuit on one AXI4-Stream each way
- ``core.py``: `Core`, the RTL of a circuit: start, end, streams
- ``pipe.py``: a pipe: its iterations are issued, its nodes work in their slots
- ``counters.py``, ``forms.py``: iterations, and conditions and addresses that depend on them
- ``delays.py``: what is used later than it comes
- ``memory.py``, ``access.py``, ``requests.py``: banks, and who is at a port in a cycle
- ``rotation.py``: lanes that reach neighbouring banks together, by one shifter
- ``fifo.py``: FIFOs between pipes
- ``units.py``: operators as modules, shared between nodes
- ``checks.py``: what must not happen, watched by the RTL
"""
