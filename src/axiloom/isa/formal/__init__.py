"""Instruction sets as formal models: what proves is what simulates. It needs z3, of the extra [prove].

- :mod:`~axiloom.isa.formal.ila`: the model: state, inputs, instructions with decode and updates, child
  instructions
- :mod:`~axiloom.isa.formal.code`: terms to Python
- :mod:`~axiloom.isa.formal.simulate`: executes a model, an instruction a call
- :mod:`~axiloom.isa.formal.sound`: what is to be proved of any model
- :mod:`~axiloom.isa.formal.bounds`: indices within memories, in whole numbers
- :mod:`~axiloom.isa.formal.possible`: instructions that can never be legal
- :mod:`~axiloom.isa.formal.limited`: z3 with a limit of work
- :mod:`~axiloom.isa.formal.guess`: counter-examples by random data
- :mod:`~axiloom.isa.formal.programs`: the model of a text with meaning; ``values``: its expressions
- :mod:`~axiloom.isa.formal.symbolic`: executes a model on terms; ``mapped``: mappings at given sizes
- :mod:`~axiloom.isa.formal.arbitrary`: one element through a program of any size; ``any_size``: mappings;
  ``meaning``: what an instruction computes as a whole
- :mod:`~axiloom.isa.formal.beats`: the model of an opcode map, a beat a command; ``tiles``: layouts
"""
