"""AXI: signatures whose ports carry the standard names, and what joins buses and streams.

- ``signatures.py``: AXI4, AXI4-Lite and AXI4-Stream
- ``interconnect.py``: several DMAs on one set of ports
- ``stream.py``: registers between two streams
- ``resize.py``: streams of one width to another
- ``lite.py``: AXI4-Lite in front of a module that takes address and data apart
- ``packer.py``: vectors of elements to dense beats of a stream
"""
