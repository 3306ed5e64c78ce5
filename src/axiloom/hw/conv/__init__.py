"""The convolution engine that walks over image tiles itself (conv_v4).

- ``engine.py``: the engine
- ``geometry.py``: its sizes; ``numbers.py``: what it works out for each tile
- ``image_buffer.py``: the image tile, and ``image_places.py``: where each pixel lies in it
- ``sender.py``: sends a tile of O
"""
