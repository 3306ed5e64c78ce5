"""Random programs under random schedules: ``python -m tests.nests.fuzz``. One generator for all rooms.

- ``programs.py``: programs, within the bounds of their arrays; ``lines.py``: lines of schedules, legal or not
- ``legality.py``: schedules against enumeration
- ``circuits.py``: circuits of what is accepted: values, cycles, FIFOs; ``rtl.py``: in Icarus, too
- ``run.py``: all of it; ``log.py``: a run in pieces (``--log FILE --seconds 500``, again and again)
"""
