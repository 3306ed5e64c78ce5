"""Boards that are elsewhere: behind ssh, or on a serial line."""
