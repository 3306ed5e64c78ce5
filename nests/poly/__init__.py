"""isl: sets and maps of programs and schedules.

- ``sets.py``: between our affine forms and isl
"""
