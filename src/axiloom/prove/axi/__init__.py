"""The rules of AXI on ports, proved: ``axiloom prove axi``.

- :mod:`~axiloom.prove.axi.ports`: which ports of a Verilog module are AXI, and of which protocol
- :mod:`~axiloom.prove.axi.watched`: a port's rules in a bench: its own proved, the others' assumed
- :mod:`~axiloom.prove.axi.user`: anybody's Verilog
- :mod:`~axiloom.prove.axi.host`: writes of registers after which a rule is broken
- :mod:`~axiloom.prove.axi.matrix`: ports by rules, as a table
- :mod:`~axiloom.prove.axi.ours`: what is proved of our modules, with the helpers that it takes
"""
