"""Every fault of a specification, found at once: sizes, opcodes, registers, flows by symbolic execution."""
