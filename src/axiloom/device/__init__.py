"""Devices that execute commands (:mod:`axiloom.hw.command`): their RTL, alone in Verilator and for a SoC.

- ``rtl.py``: :func:`device`, a text's RTL with what it takes to build it in, by a registry of makers
- ``programs.py``: :func:`execute`, a program on that RTL alone, beside the text's simulator
- ``streams.py``: :func:`run`, beats in, packets and cycles out, with pauses on both streams and resets
- ``main.cpp``: what surrounds the device there
"""
