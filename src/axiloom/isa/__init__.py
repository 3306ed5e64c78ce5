"""The contract between software and hardware: what an accelerator's instructions are.

The way of the data: a JSON file is read, checked whole, and becomes an :class:`AcceleratorSpec`, from which
RTL, driver and functional model come. A room knows those above it in this list, not those below:

- ``numerics/``: number formats: what elements are as bits, as values and in sums
- ``kernels/language/``: what a kernel is: loops, operands, body
- ``kernels/named/``: the kernels that have a name, one family a file
- ``kernels/``: the forms in which devices execute them
- ``contract/``: vocabulary of a specification, `Link`, `Use`, `AcceleratorSpec`, words and beats
- ``check/``: every fault of a specification, all at once
- ``files/``: specifications on disk and built in (``specs/``): grammar, JSON form, library
- ``instructions/``: instruction sets as trees, their texts and their simulator
- ``opcode_map/``: specifications as such trees; the functional model: words in, words out
"""

from axiloom.isa.check.check import check_tile
from axiloom.isa.check.flows import loop_orders
from axiloom.isa.contract.errors import DeviceError
from axiloom.isa.contract.framing import head_words
from axiloom.isa.contract.spec import AcceleratorSpec, Link
from axiloom.isa.contract.types import Opcode, Scope
from axiloom.isa.files.grammar import GrammarError
from axiloom.isa.files.json_form import schema
from axiloom.isa.files.library import (
    builtin,
    builtins,
    check_file,
    dumps,
    find,
    load,
    load_all,
    load_links,
    revise,
)
from axiloom.isa.files.together import check_together, place
from axiloom.isa.kernels.forms import KERNELS
from axiloom.isa.numerics import Numerics
from axiloom.isa.opcode_map.model import FunctionalModel

__all__ = [
    "KERNELS",
    "AcceleratorSpec",
    "DeviceError",
    "FunctionalModel",
    "GrammarError",
    "Link",
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
    "load_links",
    "loop_orders",
    "place",
    "revise",
    "schema",
]
