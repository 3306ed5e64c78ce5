"""The front of devices that execute an instruction set: one AXI4-Stream of commands in, one of results out.

In come, one behind the other, a command's words and its payload, each padded to whole beats. The words are
the inputs of the text in its order, the first in the lowest bits. The payload is exactly the host bytes that
the command reads, in the order of the text, where lanes come one after the other. Out come the bytes that it
stores, in the same order, padded to a beat, and TLAST with the last one: each command that stores is a
packet, which is what a descriptor of a DMA receives. One that reads or stores nothing has no beat of it.

- ``front.py``: `CommandFront`, between the streams and the units: decoded command, payload, results
- ``rows.py``: `BeatsToRows` and `RowsToBeats`: payload and results in the width of a memory's rows
- ``decode.py``: a text's conditions and fields as logic: `decoded`, for any text
- ``functions.py``: a text's functions as logic
- ``same.py``: `Same`: whether an instruction does what a unit is described to do
- ``meaning.py``: `Meaning`, by what unit, on which memories, with which values
- ``unit.py``: `Unit`, what executes commands that are alike
- ``held.py``: `Held`, a unit's own command, while the front goes on to the next one
- ``memory.py``: `Memory`, whose words are read and written by whoever works
- ``device.py``: `CommandDevice`: front, units and memories put together
- ``fault.py``: why a device stops
"""
