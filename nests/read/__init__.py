"""Programs from what users have: C, Python, linalg in MLIR.

- ``registry.py``: by the end of a file's name
- ``c.py``: C: statements; ``c_preprocessor.py``, ``c_declarations.py``, ``c_types.py``, ``c_affine.py``
  (bounds, subscripts, conditions), ``c_loops.py``, ``c_expressions.py``: its parts
- ``linalg.py``: a module of linalg; ``linalg_nests.py``, ``linalg_ops.py``, ``linalg_body.py`` (what a
  generic op computes), ``linalg_views.py`` (tensors that only rename elements).
  ``src/axiloom/frontend/loops.py`` comes before it: PyTorch, ONNX, named ops
- ``python.py``: functions that build a program
"""
