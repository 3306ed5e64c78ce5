"""Instruction sets: programs by equality saturation, proofs of mappings, and VTA on the SoC."""
