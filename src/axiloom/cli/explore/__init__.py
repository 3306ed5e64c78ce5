"""``axiloom explore``, sweeps, and profiles held against measurements."""
