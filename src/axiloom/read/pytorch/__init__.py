"""PyTorch, the only room that imports it beside ``onnx/``.

- ``module.py``: ``model.py:build``, its export, its values on inputs; ``nodes.py``: nodes of what is exported
- ``exported.py``: an exported program as a `Graph`
- ``linalg.py``: a module as linalg by torch-mlir, which ``lowering.py`` runs and tidies; ``lift.py`` moves
  constants out of the text
"""
