"""The model of a specification: a command is one beat of the stream, and what needs no beat is a program.

It serves ``prove rtl`` alone, until that asks :mod:`axiloom.isa.formal.beats`.

State: `place`, what the device does next (:mod:`~axiloom.isa.formal.streams.places`), `at`, how far it is in
that, sizes and settings, buffers by element, what they were loaded under, and `sent`, the words that went out
so far. A stopped device (`error`, a :class:`~axiloom.isa.contract.errors.DeviceError`) takes nothing more.

- :mod:`~axiloom.isa.formal.streams.places`: actions of opcodes as places
- :mod:`~axiloom.isa.formal.streams.state`: what every form has: registers, buffers, sizes and layouts
- :mod:`~axiloom.isa.formal.streams.layout`: what is to be proved of layouts
- :mod:`~axiloom.isa.formal.streams.words`: instructions that take words
- :mod:`~axiloom.isa.formal.streams.programs`: what runs without words: products, stores, clears
- :mod:`~axiloom.isa.formal.streams.post`: requantise
- :mod:`~axiloom.isa.formal.streams.matmul`, :mod:`~axiloom.isa.formal.streams.conv`: the forms

Written for the forms in :data:`FORMS`; others are refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from axiloom.base.errors import SpecError
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.formal.ila import Ila
from axiloom.isa.formal.streams.conv import ImageModel, WindowModel
from axiloom.isa.formal.streams.matmul import MatMulModel
from axiloom.isa.formal.streams.programs import StreamModel
from axiloom.isa.kernels.forms import IMAGE, MATMUL, WINDOW
from axiloom.isa.numerics.integer import Integer

__all__ = ["FORMS", "MatMulModel", "model_of"]

FORMS: Mapping[str, type[StreamModel]] = {
    MATMUL.name: MatMulModel,
    IMAGE.name: ImageModel,
    WINDOW.name: WindowModel,
}
"""Form to what builds its model."""


def model_of(spec: AcceleratorSpec, *, products: str = "exact") -> Ila:
    """The model of `spec`. `products`: ``exact``, or ``uninterpreted`` for proofs in which none is computed.

    Raises SpecError for what has no formal model yet.
    """
    builder = FORMS.get(spec.form.name)
    if builder is None:
        known = ", ".join(FORMS)
        raise SpecError(
            [f"{spec.name}: there is no formal model of the form {spec.form.name} yet, only of {known}"]
        )
    if not isinstance(spec.data_type, Integer):
        raise SpecError([f"{spec.name}: formal models are of integers, not of {spec.data_type.value}"])
    without = {
        "kernels in place": spec.in_place,
        "several kernels": spec.others,
        "registers of a device": spec.rtl.registers,
        "a stream an operand": spec.rtl.inputs,
    }
    for what, given in without.items():
        if given:
            names = ", ".join(given)
            raise SpecError([f"{spec.name}: there are no formal models of {what} yet ({names})"])
    return builder(spec, products).build()
