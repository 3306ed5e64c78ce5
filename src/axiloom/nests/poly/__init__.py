"""isl: sets and maps of programs and schedules.

- ``sets.py``: between our affine forms and isl; ``counting.py``: how many points
- ``liveness.py``: what is read that nothing has written, what is written that nothing reads; ``checks.py``:
  what is wrong with a program
- ``dependences.py``: what must come before what; ``vectors.py``: distances and directions
"""
