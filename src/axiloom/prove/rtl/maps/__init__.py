"""State maps: where in registers and memories of a device lies what its model knows."""
