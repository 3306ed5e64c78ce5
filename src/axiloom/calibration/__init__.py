"""Board profiles held against measurements.

``measurements`` reads what was measured on a board, ``programs`` builds what ran there, ``traces``
simulates it (once: traces are cached), ``model`` says what a trace costs under other parameters of the
profile, ``fit`` finds the parameters, with each configuration left out in turn, ``report`` prints errors,
``profile`` writes the parameters into ``boards/<name>/profile.toml``.

A prediction is the simulator's: the linear model only finds the parameters, and the report says how far
it is from the simulator that ran with them.
"""
