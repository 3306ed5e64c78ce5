"""Post-training quantisation to int8: a float network and calibration data in, an integer network out.

`calibrate` watches the float network, `lower` and `ops` turn its ATen graph into the integer graph of
`graph` (with the integer factors of `fixed`), `execute` runs that in NumPy and `emit` writes it as MLIR;
`report` says what was lost. Activations are int8, symmetric, one scale a tensor; weights one scale an output
channel; sums int32. `calibrate`, `lower`, `ops` and `network` ask `axiloom.read.pytorch`, which needs
torch: they are imported on demand.
"""

from __future__ import annotations

from axiloom.quantise.emit import emit
from axiloom.quantise.graph.execute import execute
from axiloom.quantise.graph.graph import Graph

__all__ = ["Graph", "emit", "execute"]
