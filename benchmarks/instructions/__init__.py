"""Instruction sets: programs by equality saturation, allocation, proofs of mappings, and VTA on the SoC."""
