"""The MatMul engine: sizes (``geometry.py``), checks of a tile, the engine, and the sender of C."""
