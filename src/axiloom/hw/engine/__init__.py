"""What every engine has in front of its arithmetic: the input stream becomes commands.

- ``engine.py``: an engine as the SoC sees it
- ``decoder.py``: opcode words to programs
- ``receiver.py``: fetches opcodes, loads operands, sets sizes, queues the rest
- ``load_port.py``: between the receiver and the buffer of an operand
- ``commands.py``: what is queued
"""
