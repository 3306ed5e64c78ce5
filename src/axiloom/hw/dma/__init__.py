"""The AXI DMA, with the registers of Xilinx' AXI DMA (AMD PG021).

- ``axi_dma.py``: the DMA as a whole, in direct register or scatter-gather mode
- ``axi_fifo.py``: an AXI4-Stream FIFO (AMD PG080), which takes its place where programs move words themselves
- ``registers.py``, ``sg_registers.py``: what the host reads and writes
- ``mm2s.py``, ``s2mm.py``: the movers, memory to stream and back; ``mover.py``: what commands them
- ``sg.py``, ``sg_fetch.py``, ``sg_port.py``: descriptors, ahead of the movers
"""
