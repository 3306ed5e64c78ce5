"""The rules of AXI4, AXI4-Lite and AXI4-Stream as logic beside a port: for proofs, and for simulation.

- :mod:`~axiloom.hw.axi.rules.language`: a rule, who must keep it, and the registers that watch a port
- :mod:`~axiloom.hw.axi.rules.handshake`: what VALID promises, on any channel
- :mod:`~axiloom.hw.axi.rules.bursts`: lengths, 4 KiB, the last beat, strobes, answers, how many are under way
- :mod:`~axiloom.hw.axi.rules.protocols`: a protocol is the rules of its channels
"""
