"""The simulated SoC: RTL and CPU run together, every cycle of both is counted.

A run is a process of a simulator, in which RTL, a C++ library and Python meet. The rooms:

- ``blocks/``: what stands in the fabric, as everybody is told of it
- ``build/``: C to ELF, Verilog to a simulator's program, the cache of builds, and starting the process
- ``native/``: RAM, CPU, caches, checkers: the C++ library that RTL (DPI, VPI) and Python share
- ``rtl/``: the world around the SoC, in Verilog: memory, the CPU as bus master, counters, watchdog
- the files here: ``system`` is what stands there, ``soc`` simulates it (build, run, counters), ``job`` is
  what one run is told and what it gives; ``session`` is the one cocotb test that resets, loads, starts, waits
  and reads all counters, ``bench`` runs ordinary cocotb tests; ``core`` is the library for Python,
  ``cpu_store`` keeps runs of the CPU alone, ``profile`` what it counted, ``tally`` the same of a part of
  a run,
  ``elf`` reads programs, ``linux`` is what a Linux process finds, ``diagnosis``
  says why a run stopped, ``model_device`` puts the functional model in the RTL's place, ``serial_board`` a
  board behind a serial line
- ``replay/``: going through a planned driver step by step, without a simulator
"""
