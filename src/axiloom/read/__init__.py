"""Applications in: HLO text, linalg and PyTorch become a `Graph`.

- ``forms.py``: `read`, which chooses by a file's contents; a form is an entry there
- ``context/``: what readers share
- ``hlo/``: StableHLO, as JAX prints it, and HLO's own text
- ``linalg/``: linalg on tensors, as drivergen's front ends give it
- ``torch_export.py``: programs of torch.export; ``aten/``: their operations, a family a file
"""

from axiloom.read.context import ReadError
from axiloom.read.forms import read

__all__ = ["ReadError", "read"]
