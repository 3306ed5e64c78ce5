"""What a circuit takes of an FPGA."""
