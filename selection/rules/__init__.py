"""Equations between graphs, as texts with proofs."""
