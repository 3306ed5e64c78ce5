"""MLIR files as people have them.

- ``file.py``: which function of a text is meant, and what of it nobody honours
- ``model.py``: the text with its weights; ``tosa.py``: TOSA to linalg by MLIR's own passes
"""
