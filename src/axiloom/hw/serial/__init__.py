"""A SoC whose host is a PC on a serial line: the line, the bridge to AXI4-Lite, memory, and the SoC."""
