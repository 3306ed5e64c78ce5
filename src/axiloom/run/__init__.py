"""The main job: a problem or a network, compiled, simulated and compared with NumPy.

A run is made of values: a workload (``problem``, ``network``), the :class:`axiloom.cosim.system.System` that
it runs on, and the :class:`axiloom.drivergen.pipeline.schedule.Schedule` that it asks for, which ``resolve``
completes, for matrix products by the ranking of ``choice``.
``run`` simulates it and reports, whatever it is. ``compare`` has inputs and comparison, ``by_hand`` what
programs by hand are given, ``cached_layers`` what of a network is not simulated again.
"""
