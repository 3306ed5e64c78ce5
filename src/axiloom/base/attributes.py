"""Attributes of a network's function in MLIR, which several rooms read and write."""

WEIGHT = "axiloom.weight"
"""Of an argument: the name of its array in the `.npz`. Other arguments are inputs."""
SOURCE = "axiloom.compared"
"""Of a function in integers: which model it is of, and how near to it by whose word."""
TYPES = "axiloom.{}_types"
"""Of a function: NumPy's names for the types of its inputs or outputs, where one is unsigned."""
