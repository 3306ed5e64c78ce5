"""``axiloom run`` and ``axiloom simulate``, and what they leave to choose."""
