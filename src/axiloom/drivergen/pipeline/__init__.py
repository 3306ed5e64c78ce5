"""The passes in their order (``compile.py``), and the pipelines that they are made of (``pipelines.py``).

``decisions.py`` decides about a program before its transfers are placed, ``conv_choice.py`` about tiles.
"""
