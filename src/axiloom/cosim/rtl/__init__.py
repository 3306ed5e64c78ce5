"""The world around the simulated SoC: Verilog wrapper, its glue to the core, the program under Verilator."""
