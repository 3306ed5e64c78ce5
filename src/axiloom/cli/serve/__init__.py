"""Servers: ``command`` has ``axiloom serve``."""
