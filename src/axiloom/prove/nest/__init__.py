"""A loop nest, from its program to its Verilog, at its sizes and for all data: ``axiloom prove nest``.

- :mod:`~axiloom.prove.nest.terms`: operators as z3 terms
- :mod:`~axiloom.prove.nest.program`: what a program or a schedule computes
- :mod:`~axiloom.prove.nest.circuit`: what a circuit sends
- :mod:`~axiloom.prove.nest.order`: that it does so whatever its streams wait
- :mod:`~axiloom.prove.nest.recurrence`: the RTL's control is the circuit's
- :mod:`~axiloom.prove.nest.datapath`: the Verilog's data are the circuit's
- :mod:`~axiloom.prove.nest.verdicts`: all claims
"""
