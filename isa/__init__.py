"""The contract between software and hardware: what an accelerator's instructions are.

The way of the data: a JSON file is read (:mod:`json_form`, which uses :mod:`grammar` for its opcode maps
and flows), checked whole (:mod:`check`, :mod:`flows`), and becomes an :class:`AcceleratorSpec`, from which
RTL, driver and functional model come.

- ``kernels.py``: the kernels, and the forms in which devices execute them
- ``numerics/``: number formats: what elements are as bits, as values and in sums
- ``types.py``: the vocabulary: host and device actions, opcodes, flows, tiles
- ``spec.py``: `AcceleratorSpec`
- ``grammar.py``: opcode_map and opcode_flow, text to values and back
- ``json_form.py``: files, and ``specs/accelerator.schema.json``, their published schema
- ``flows.py``: which loop orders a flow allows, by symbolic execution
- ``check.py``: every fault of a specification, all at once; and of a tile
  (``check_sizes.py``, ``check_opcodes.py``: the checks themselves)
- ``together.py``: several accelerators in one system
- ``post.py``: post-processing added to a specification
- ``library.py``: load, dumps, and the built-in specifications in ``specs/``
- ``model.py``: the functional model: words in, words out; behind its streams a device for each form of a
  kernel (``device.py``, what they share; ``device_matmul.py``; ``device_conv.py``)
- ``requantise.py``: what post-processing computes
- ``words.py``: elements to stream words and back
- ``framing.py``: the words that fill up the beats of wide streams
- ``names.py``: names in messages, "did you mean"
"""

from axiloom.isa.check.check import check_tile
from axiloom.isa.check.flows import loop_orders
from axiloom.isa.contract.framing import head_words
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import Opcode, Scope
from axiloom.isa.files.grammar import GrammarError
from axiloom.isa.files.json_form import schema
from axiloom.isa.files.library import builtin, builtins, check_file, dumps, find, load, load_all, revise
from axiloom.isa.files.together import check_together, place
from axiloom.isa.kernels.forms import KERNELS
from axiloom.isa.model.model import DeviceError, FunctionalModel
from axiloom.isa.numerics import Numerics

__all__ = [
    "KERNELS",
    "AcceleratorSpec",
    "DeviceError",
    "FunctionalModel",
    "GrammarError",
    "Numerics",
    "Opcode",
    "Scope",
    "builtin",
    "builtins",
    "check_file",
    "check_tile",
    "check_together",
    "dumps",
    "find",
    "head_words",
    "load",
    "load_all",
    "loop_orders",
    "place",
    "revise",
    "schema",
]
