"""``axiloom prove``: what holds of hardware in every cycle, with its bound, or a run that shows it does not.

- :mod:`~axiloom.prove.bench`: a module under free inputs, what is assumed of them, what is to be proved
- :mod:`~axiloom.prove.abc`: such a bench through Yosys to ABC, and its verdicts
- :mod:`~axiloom.prove.spec`: specifications: their formal models are sound
- :mod:`~axiloom.prove.solvers`: z3, bitwuzla and cvc5, each in a process of its own
- :mod:`~axiloom.prove.verdict`: verdicts as values, as a table and as JSON
- :mod:`~axiloom.prove.replay`: a counter-example in words, as a waveform, and as a cocotb test
- :mod:`~axiloom.prove.axi`: the rules of AXI on ports: ours, and those of anybody's Verilog
"""
