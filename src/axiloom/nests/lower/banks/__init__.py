"""Where the elements of arrays lie.

- ``layouts.py``: an element's bank and address; ``partition.py``: banks that suit the lanes
"""
