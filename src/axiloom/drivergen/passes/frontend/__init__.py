"""Passes in front of tiling: from linalg as it comes to ops that carry a trait."""
