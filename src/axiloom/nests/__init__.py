"""Accelerators from loop nests: a program of affine loops, a schedule, and the circuit that executes it.

The way of the data, and the rooms, each of which knows those above it:

- ``program/``: arrays, statements, expressions, domains; ``poly/``: isl: domains, liveness, dependences
- ``read/``: from C, linalg and Python; ``schedule/``: schedules as values, and their primitives
- ``affine/``: the scheduled program as IR in xDSL, and its interpreter; ``hls/``: HLS C++
- ``lower/``: lanes, banks, modulo scheduling: from a schedule to a `hw.nest.circuit.Circuit`
- ``timing/``: cycles of a circuit; ``dataflow/``: nests that run at once; ``resources/``: what a circuit
  takes
- ``search/``: the choice of a schedule
"""
