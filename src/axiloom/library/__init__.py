"""The library: what ``import axiloom as ax`` offers, by the names of ``axiloom.__all__``.

A function where two things meet, a method where a thing does something itself, a value for all that comes
back.

- ``devices.py``: `device`, `board`; ``works.py``: `read`; ``plans.py``: `plan`; ``runs.py``: `run`, `compare`
- ``choices.py``: `explore`; ``proofs.py``: `prove`; ``models.py``: `quantize`; ``loops.py``: `nest`
- ``sessions.py``: `soc`
- ``progress.py``: what a long step is at: a line in a terminal, a line a minute in a log
"""
