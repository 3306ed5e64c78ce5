"""The main job: a problem or a network, compiled, simulated and compared with NumPy."""
