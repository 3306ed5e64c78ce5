"""The passes in their order (``compile.py``), and the pipelines that they are made of (``pipelines.py``).

``decisions.py`` says what is decided before transfers are placed, ``conv_choice.py`` the tiles of a convolution.
"""
