"""Programs from what users have: C, Python, linalg in MLIR.

- ``registry.py``: by the end of a file's name
- ``c.py``: C: statements, calls. Its parts: ``clang.py`` (the compiler's tree), ``c_declarations.py``,
  ``c_loops.py``, ``c_expressions.py``, ``c_values.py`` (arithmetic, conversions), ``c_forms.py`` (counters
  with C's wrap), ``c_places.py`` (at which points a line is executed), ``c_effects.py`` (what is written),
  ``c_writes.py`` (statements of the program, and reads of what nothing has written)
- ``linalg.py``: a module of linalg; ``linalg_nests.py``, ``linalg_ops.py``, ``linalg_body.py`` (what a
  generic op computes), ``linalg_views.py`` (tensors that only rename elements).
  ``src/axiloom/nest/loops.py`` comes before it: PyTorch, ONNX, named ops
- ``python.py``: functions that build a program
"""
