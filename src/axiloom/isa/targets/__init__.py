"""Instruction sets of others, as files: what they are and what they come from stands at the top of each."""
