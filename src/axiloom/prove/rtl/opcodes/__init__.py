"""Devices with opcodes: states at rest, claims of each instruction, and all that can happen after a word."""
