"""Problems that the command line names in short, as MLIR."""
