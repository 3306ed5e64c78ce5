"""Devices of texts: the RTL does what the text of each instruction says."""
