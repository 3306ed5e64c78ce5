"""HLS C++ of a schedule, for whoever has a flow of AMD's tools.

- ``emit.py``: `hls`, C++ with pragmas; ``types.py``: number formats and operators; ``pragmas.py``;
  ``carried.py``: dependences that isl proves absent; ``regions.py``: dataflow
"""

from axiloom.nests.hls.emit import hls

__all__ = ["hls"]
