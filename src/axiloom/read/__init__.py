"""Files of people in: as a `Graph`, or as linalg with its weights.

- ``forms.py``: `read`, which chooses by a file's contents; a form is an entry there
- ``models.py``: which files are models; `load` gives linalg, `graph` a graph
- ``context/``: what readers share: `Context` of a graph, `Model` in linalg, `Referee` for what it means
- ``hlo/``: StableHLO, as JAX prints it, and HLO's own text
- ``mlir/``: which function of a text is meant, its weights, TOSA; ``linalg/``: linalg on tensors as a graph
- ``pytorch/``: modules and programs of torch.export; ``aten/``: their operations, a family a file
- ``onnx/``: an ONNX file as a module of torch
"""

from axiloom.read.context import ReadError
from axiloom.read.forms import read

__all__ = ["ReadError", "read"]
