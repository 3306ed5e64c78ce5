"""What every engine has in front of its arithmetic: the input stream becomes commands.

- ``engine.py``: an engine as the SoC sees it
- ``decoder.py``: opcode words to programs
- ``receiver.py``: fetches opcodes, loads operands, sets sizes, queues the rest
- ``commands.py``: what is queued
"""
