"""Why an ONNX node is not read."""

from __future__ import annotations


class NodeError(Exception):
    """A use of an op that has no reading; the text says which, and what would have one."""
