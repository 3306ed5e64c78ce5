"""Saturation and extraction, in a process with limits."""
