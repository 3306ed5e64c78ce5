"""linalg on tensors, as drivergen's front ends give it.

- ``reader.py``: a function to a graph; ``moves.py``: ``tensor`` ops, constants
- ``structured.py``: ``linalg.generic`` and named ops by their maps and bodies: elementwise, folds, products
- ``scalars.py``: what stands in bodies; ``windows.py``: convolutions and pooling by name
"""
