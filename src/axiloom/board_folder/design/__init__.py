"""What a board folder is made of (``plan.py``), and its Verilog (``rtl.py``)."""
