"""The simulated SoC: RTL and CPU run together, every cycle of both is counted.

What a user calls: ``soc`` (build, run, counters), ``bench`` (ordinary cocotb tests), ``toolchain`` (C to
ELF). One run is a simulator process, started by ``process``, with these in it:

- ``rtl/axiloom_tb.v``: the SoC from ``emitted``, a memory slave, the CPU as bus master, counters, watchdog;
- ``native/``: RAM, CPU, caches, checkers: a C++ library that RTL (DPI, VPI) and Python (``core``) share;
- ``model_device``, where there is no RTL: the functional model behind the accelerator's ports;
- ``session``: the one cocotb test that resets, loads, starts, waits for the end and reads all counters.

``verilator`` and ``icarus`` build the process's program, ``cache`` keeps builds, ``elf`` reads programs and
``diagnosis`` says why a run stopped.
"""
