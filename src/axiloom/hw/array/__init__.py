"""What engines around an array of multiply-adds share: buffers, the array, and the way out.

- ``array_engine.py``: how these parts are put together
- ``sequencer.py``: executes commands in order
- ``operand_buffer.py``, ``parameter_buffer.py``, ``result_buffer.py``: the buffers, each in two halves
  (``ping_pong.py``)
- ``mac_array.py``: the array itself; ``pair.py``: two products of int8 out of one multiplier
- ``requantise.py``: sums to int8
- ``tile_sender.py``: what senders of tiles share
- ``counter.py``, ``delay.py``: small parts
"""
