"""HLS C++ of a schedule, for whoever has a flow of AMD's tools, and to count what it saves.

- ``emit.py``: `hls`, C++ with pragmas; ``types.py``: number formats and operators; ``pragmas.py``;
  ``carried.py``: dependences that isl proves absent; ``regions.py``: dataflow; ``names.py``
- ``lines.py``: lines that people would write
"""

from axiloom.nests.hls.emit import hls
from axiloom.nests.hls.lines import lines_of_c

__all__ = ["hls", "lines_of_c"]
