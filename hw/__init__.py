"""RTL in Amaranth 0.5: AXI signatures, the MatMul engine, the AXI DMA, the SoC, Verilog emission.

``axi`` signatures with standard port names; ``matmul`` the accelerator, generated from an
``AcceleratorSpec``, made of ``decoder``, ``operand_buffer``, ``mac_array`` and ``sender``;
``dma`` and ``soc`` what surrounds it; ``verilog`` prints either top module.
"""

from axiloom.hw import verilog

__all__ = ["verilog"]
