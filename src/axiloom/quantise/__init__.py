"""Post-training quantisation to int8: a float network and calibration data in, a graph of integers out.

`lower` watches the float network and, with a function an op in `ops`, turns its ATen graph into an
:mod:`axiloom.graph` of int8; `network` holds both, runs the graph and writes it as MLIR; `report` says what
was lost. Activations are int8, symmetric, one scale a tensor; weights one scale an output
channel; sums int32. `axiloom.read.pytorch` is asked for what needs torch: import the modules on demand.
"""
