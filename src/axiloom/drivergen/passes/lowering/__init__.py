"""Passes that place transfers, and turn them and what stays on the CPU into calls and loops."""
