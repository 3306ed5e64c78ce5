"""Each instruction of a formal model is refined by the RTL, as it is emitted or as a user wrote it.

- :mod:`~axiloom.prove.rtl.machine`: Verilog as terms, through Yosys
- :mod:`~axiloom.prove.rtl.device`: the machine, its ports, its model, and which register holds what of it
- :mod:`~axiloom.prove.rtl.maps`: the state maps of our engines, made of :mod:`~axiloom.prove.rtl.laid`;
  :mod:`~axiloom.prove.rtl.of_matmul`, :mod:`~axiloom.prove.rtl.of_window`: of each form
- :mod:`~axiloom.prove.rtl.user`: the state map in a file
- :mod:`~axiloom.prove.rtl.trial`: both on integers, to see what a device at rest looks like
- :mod:`~axiloom.prove.rtl.stale`: registers that no later word looks at
- :mod:`~axiloom.prove.rtl.rest`: states at rest as terms, and the invariant that says which they are
- :mod:`~axiloom.prove.rtl.command`: the model on terms, a command at a time
- :mod:`~axiloom.prove.rtl.explore`: the machine on terms, whatever the other sides of its streams do
- :mod:`~axiloom.prove.rtl.multiplier`: its products are products
- :mod:`~axiloom.prove.rtl.pairs`: multipliers that give two products, as two multipliers
- :mod:`~axiloom.prove.rtl.claim`: cases of a claim, and what came out of them
- :mod:`~axiloom.prove.rtl.states`: guesses about states at rest, and their terms
- :mod:`~axiloom.prove.rtl.answers`: does it hold, or was a guess too strong
- :mod:`~axiloom.prove.rtl.refused`: words that stop it
- :mod:`~axiloom.prove.rtl.cases`: all that can happen from one start, with one word
- :mod:`~axiloom.prove.rtl.halted`: after an error, without a search
- :mod:`~axiloom.prove.rtl.overlap`: words that do not wait
- :mod:`~axiloom.prove.rtl.refine`: all claims
- :mod:`~axiloom.prove.rtl.texts`: the RTL of a text, a command after the other;
  :mod:`~axiloom.prove.rtl.drawn`: which commands; :mod:`~axiloom.prove.rtl.rows`: which registers hold what
- :mod:`~axiloom.prove.rtl.same`: are its terms equal; :mod:`~axiloom.prove.rtl.tables`: functions of a byte;
  :mod:`~axiloom.prove.rtl.sums`: sums of products; :mod:`~axiloom.prove.rtl.rerun`: a fault, run on numbers
- :mod:`~axiloom.prove.rtl.cut`: modules taken out, as functions; :mod:`~axiloom.prove.rtl.numbers`: those of
  a text
- :mod:`~axiloom.prove.rtl.verdicts`: rows of the table, kept
- :mod:`~axiloom.prove.rtl.replay`: a run that shows a fault, as a test
"""
