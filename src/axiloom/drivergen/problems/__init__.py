"""Problems that the command line names in short, as MLIR: one file a kind, listed in ``kinds.py``."""
