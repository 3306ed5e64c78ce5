"""Choosing hardware and drivers: the model's ranking, confirmed by simulation, and what a device holds."""
