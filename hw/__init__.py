"""RTL in Amaranth 0.5: AXI signatures, the engines, the AXI DMA, the SoC, Verilog emission.

``axi`` signatures with standard port names; ``accelerator`` picks the engine (``engine``, ``array_engine``:
what several have in common) for an ``AcceleratorSpec``:

- ``matmul`` (sizes in ``geometry``), made of ``stream``, ``receiver`` with ``decoder``, ``tile_check``,
  ``sequencer``, ``operand_buffer``, ``mac_array``, ``result_buffer``, ``sender`` (``tile_sender``) and, for
  results of int8, ``requantise`` (``parameter_buffer``); ``ping_pong`` is what their buffers have in common
- ``conv`` (conv_v4, sizes in ``conv_geometry``): the same parts, with ``window_buffer`` for images,
  ``conv_numbers`` in place of ``tile_check`` and ``conv_sender`` with ``packer``
- ``window_conv`` (conv_v3, sizes in ``window_geometry``): ``window_control`` and ``dot_product``
- ``copy_engine`` (loopback, identity): two memories behind a ``receiver``

``dma`` (``dma_registers``, ``dma_mm2s``, ``dma_s2mm``) and ``soc`` are what surrounds it, ``shared_soc``
several of them behind the ports of one (``interconnect``); ``user_rtl`` the user's own Verilog in its place;
``verilog`` prints either top module, made readable by ``tidy`` (``verilog_names``, ``verilog_inline``,
``verilog_process``); ``lint`` and ``resources`` judge it.
"""

from axiloom.hw.verilog import emit as verilog

__all__ = ["verilog"]
