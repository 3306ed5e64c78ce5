"""Passes that turn transfers and what stays on the CPU into calls and loops."""
