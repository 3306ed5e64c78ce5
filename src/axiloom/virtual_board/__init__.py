"""A simulated SoC that answers as a board does to PYNQ's remote mode.

``handoff`` writes and reads what PYNQ knows of a design (.hwh, .bit, .xsa); ``address_map`` says which block
is simulated by what; ``board`` is the state behind all requests: buffers, windows, files, pins; ``service``
is the protocol, gRPC with the messages of ``proto/``.
"""
