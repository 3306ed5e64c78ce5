"""Every fault of a specification, found at once: sizes, opcodes, and flows by symbolic execution."""
