"""Applications in: HLO text, linalg and PyTorch become a `Graph`.

- ``context.py``: what readers share
- ``torch_export.py``: programs of torch.export; ``aten/``: their operations, a family a file
"""
