"""Programs from what users have: C, linalg in MLIR, Python."""
