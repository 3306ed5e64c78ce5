"""Devices that execute commands (:mod:`axiloom.hw.command`), alone in Verilator: beats in, packets and cycles out.

- ``streams.py``: :func:`run`, with pauses on both streams and resets; ``main.cpp`` is what surrounds the device
"""
