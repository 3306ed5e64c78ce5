"""RTL in Amaranth 0.5, from an `AcceleratorSpec` to Verilog. It knows neither compiler nor simulator.

A room knows those above it in this list, not those below; each room's own docstring names its files:

- ``axi/``: signatures whose ports carry the standard names, and what joins buses and streams
- ``rtl_files/``: Verilog files as tools read them: the user's ports, the linter
- ``dma/``: the AXI DMA, with the registers of Xilinx' AXI DMA
- ``engine/``: what every engine has in front of its arithmetic: the input stream becomes commands
- ``array/``: what engines around an array of multiply-adds share: buffers, the array, the way out
- ``copy/``, ``matmul/``, ``window/``, ``conv/``: the engines; none knows another
- ``soc/``: the system on chip around accelerators, and which engine executes a specification
- ``verilog/``: from Amaranth to Verilog that people read
- ``serial/``: a SoC whose host is a PC on a serial line
"""
