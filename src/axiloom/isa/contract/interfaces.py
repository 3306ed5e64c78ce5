"""Interfaces and channels by number, as a simulation's monitors and its core call them."""

from __future__ import annotations

PORT_IN, PORT_OUT = 8, 16
"""The streams to and from the first accelerator."""
PORT_CONTROL, PORT_MASTER, PORT_USER_OUT, PORT_USER_IN = 32, 33, 34, 40
"""The ports of a user's module; of its input streams the first."""
CHANNELS = ("t", "ar", "r", "aw", "w", "b")
"""Channels by number."""
