"""Primitives: a schedule and plain values in, a schedule out, or a refusal. One file a primitive or a family.

- ``check.py``: legality and the nearest legal alternative, for all of them
- ``split.py``: split, tile; ``reorder.py``: reorder, interchange; ``skew.py``: skew, shift
- ``fuse.py``: fuse, sink; ``fission.py``; ``unroll.py``: unroll, pipeline, share
- ``layout.py``: partition, storage, stream; ``duplicate.py``
- that change the program (``rebase.py``): ``buffer_at.py``, ``expand.py``, ``overlay.py``, ``reuse.py``
  (``axes.py``), ``reassociate.py``
"""

from axiloom.nests.schedule.primitives.buffer_at import buffer_at
from axiloom.nests.schedule.primitives.duplicate import duplicate
from axiloom.nests.schedule.primitives.expand import expand
from axiloom.nests.schedule.primitives.fission import fission
from axiloom.nests.schedule.primitives.fuse import fuse, sink
from axiloom.nests.schedule.primitives.layout import partition, storage, stream
from axiloom.nests.schedule.primitives.overlay import overlay
from axiloom.nests.schedule.primitives.reassociate import reassociate
from axiloom.nests.schedule.primitives.reorder import interchange, reorder
from axiloom.nests.schedule.primitives.reuse import reuse
from axiloom.nests.schedule.primitives.skew import shift, skew
from axiloom.nests.schedule.primitives.split import split, tile
from axiloom.nests.schedule.primitives.unroll import pipeline, share, unroll

__all__ = [
    "buffer_at",
    "duplicate",
    "expand",
    "fission",
    "fuse",
    "interchange",
    "overlay",
    "partition",
    "pipeline",
    "reassociate",
    "reorder",
    "reuse",
    "share",
    "shift",
    "sink",
    "skew",
    "split",
    "storage",
    "stream",
    "tile",
    "unroll",
]
