"""``axiloom prove``, a module for each kind of proof."""
