"""Choosing hardware and drivers: the model's ranking, confirmed by simulation, and what a device holds.

``default`` takes what nobody says in ``axiloom run``; ``explore`` ranks drivers and confirms them;
``hardware`` chooses array, buffers, stream and DMA for a device, in the ``order`` of what they gain for
``products``, as far as ``estimate`` says that they fit, and ``hardware_report`` tells.
"""
