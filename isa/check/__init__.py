"""Every fault of a specification, found at once: sizes, opcodes, flows by symbolic execution, and registers."""
