"""Random programs in C against the host's compiler: ``python -m tests.nests.c_fuzz --count 3000 --rtl 300``.

- ``programs.py``: texts, with what readers of C get wrong: wraps, casts, narrow sums, counters after loops,
  ``static``, calls; some are undefined by design
- ``run.py``: each is refused with its line, or what was read, its circuit and some RTL equal the file as it
  was compiled
"""
