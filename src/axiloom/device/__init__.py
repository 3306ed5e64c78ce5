"""Devices that execute commands (:mod:`axiloom.hw.command`), alone in Verilator.

- ``streams.py``: :func:`run`, beats in, packets and cycles out, with pauses on both streams and resets
- ``main.cpp``: what surrounds the device there
"""
