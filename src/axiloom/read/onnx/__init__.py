"""ONNX.

- ``file.py``: a file checked, in an opset that is read, with the judge of what it means
- ``network.py``: as a torch module, by a function an op: ``ops.py``, ``windows.py``, ``recurrent.py``, which
  share ``function.py``
- ``model.py``: as linalg, by torch-mlir's importer, or else by the module
"""
