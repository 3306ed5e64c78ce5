"""RTL in Amaranth 0.5: AXI signatures, the MatMul engine, the AXI DMA, the SoC, Verilog emission.

``axi`` signatures with standard port names; ``matmul`` the accelerator, generated from an
``AcceleratorSpec`` (sizes in ``geometry``), made of ``stream``, ``receiver`` with ``decoder``,
``tile_check``, ``sequencer``, ``operand_buffer``, ``mac_array``, ``result_buffer``, ``sender`` and, for
results of int8, ``requantise`` (``parameter_buffer``); ``ping_pong`` is what their buffers have in common;
``dma`` (``dma_registers``, ``dma_mm2s``, ``dma_s2mm``) and ``soc`` what surrounds it, ``shared_soc``
several of them behind the ports of one (``interconnect``); ``user_rtl`` the
user's own Verilog in its place; ``verilog`` prints either top module, made readable by ``tidy``
(``verilog_names``, ``verilog_inline``, ``verilog_process``); ``lint`` and ``resources`` judge it.
"""

from axiloom.hw import verilog

__all__ = ["verilog"]
