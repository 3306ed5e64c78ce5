"""Random programs under random schedules: ``python -m tests.nests.fuzz``. One generator for all rooms.

- ``programs.py``: programs, all within the bounds of their arrays; ``lines.py``: lines of schedules, legal or not
- ``legality.py``: schedules against enumeration
- ``circuits.py``: what is accepted becomes circuits: their values, cycles and FIFOs; ``rtl.py``: in Icarus, too
"""
