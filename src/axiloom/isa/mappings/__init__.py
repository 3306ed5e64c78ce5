"""Mappings that come with Axiloom: kernels and the commands that compute them (docs/instructions.md)."""
