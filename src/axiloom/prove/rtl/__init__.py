"""Each instruction of a formal model is refined by the RTL, as it is emitted or as a user wrote it.

- `terms`: Verilog as terms, through Yosys (`machine`), and what makes two terms the same: multipliers that
  are products (`multiplier`, `pairs`), modules as functions (`cut`, `numbers`), functions of a byte by
  their tables (`tables`), sums of products as whole numbers (`sums`); `same` asks;
  `referee` asks bitwuzla again what z3 said, as text (`smtlib`)
- `maps`: the machine, its ports, its model, and which register holds what of it (`device`): the maps of our
  engines (`ours`, made of `laid`; `of_matmul`, `of_window`, `of_image`: of each form), and those in a file
  (`user`)
- `opcodes`: machine and model on integers, to see what a device at rest looks like (`trial`); registers
  that no later word looks at (`stale`); states at rest as terms, and the invariant that says which they are
  (`rest`, `states`); the model a command at a time (`command`), the machine whatever the other sides of its
  streams do (`explore`); claims (`claim`), what they come to (`answers`), all that can happen from one
  start with one word (`cases`), words that stop it (`refused`, `halted`), and words that do not wait
  (`overlap`)
- `texts`: the RTL of a text, a command after the other (`prove`): which commands (`drawn`), which registers
  hold what (`rows`), and a fault, run on numbers (`rerun`)
- `refine`: all claims of a device with opcodes; `verdicts`: rows of the table, kept; `replay`: a run that
  shows a fault, as a test
"""
