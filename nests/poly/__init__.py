"""isl: sets and maps of programs and schedules.

- ``sets.py``: between our affine forms and isl
- ``dependences.py``: what must come before what; ``vectors.py``: distances and directions
"""
