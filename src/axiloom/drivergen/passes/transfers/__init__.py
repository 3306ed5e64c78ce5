"""Passes that place transfers and make them fewer, larger and overlapping."""
