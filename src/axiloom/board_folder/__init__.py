"""A folder with everything that brings accelerators up on one board: ``axiloom board new``.

``plan`` decides (board, addresses, DMA, problems); ``rtl`` makes the cores' Verilog, ``ipxact`` their
component.xml, ``block_design`` the design around them at the addresses of ``address_map``, ``text_files``
constraints, settings and board.json, ``c_files`` the host's side, ``readme`` the steps. ``write`` puts it all
into a folder, whole or not at all.

``check`` has every file of such a folder checked by a tool: Verilator, Yosys, Vivado, `dtc`, the C
compilers. ``tcl/`` are scripts that are the same for every folder.
"""

from axiloom.board_folder.design.plan import OWN, XILINX, Plan, make
from axiloom.board_folder.write import Contents, contents, refuse, write

__all__ = ["OWN", "XILINX", "Contents", "Plan", "contents", "make", "refuse", "write"]
