"""Drivers in C for programs of commands, and their runs on the simulated SoC.

- ``encode.py``: a command's fields as the words that a text reads them off
- ``host.py``: the host bytes that a command reads and writes, in the order of the text
- ``plan.py``: a program as a plan: commands in queues, rows of bytes of arrays
- ``driver.py``: the plan's driver; ``replay.py``: the plan on the simulator of the text
- ``tokens.py``: what each command waits for, where a device works on several at once
- ``execute.py``: a program by the simulator of its text alone
"""
