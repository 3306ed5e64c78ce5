"""The kinds of problems that the command line names in short. A new kind is one file, and one entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from axiloom.drivergen.c.copy_driver import COPY_FORM, parse_copy
from axiloom.drivergen.problems.conv import CONV_FORM, parse_conv
from axiloom.drivergen.problems.depthwise import DEPTHWISE_FORM, parse_depthwise
from axiloom.drivergen.problems.kernels import FORM, NAMES, parse_kernel
from axiloom.drivergen.problems.matmul import MATMUL_FORM, parse_problem
from axiloom.drivergen.problems.products import FORMS, parse_product
from axiloom.errors import UsageError
from axiloom.isa.kernels.language.kernel import Kernel
from axiloom.isa.wording.names import hint, shortened


class Workload(Protocol):
    """What every problem has."""

    @property
    def dtype(self) -> str:
        """Of the inputs: ``int8``."""
        ...

    @property
    def mlir(self) -> str:
        """A module with one function."""
        ...


@dataclass(frozen=True)
class Kind:
    form: str
    """What is accepted, for messages."""
    parse: Callable[[str], Workload]


KINDS: Mapping[str, Kind] = {
    "matmul": Kind(MATMUL_FORM, parse_problem),
    "conv": Kind(CONV_FORM, parse_conv),
    **{name: Kind(form.text, parse_product) for name, form in FORMS.items()},
    "dwconv": Kind(DEPTHWISE_FORM, parse_depthwise),
    "copy": Kind(COPY_FORM, parse_copy),
}
"""By what stands in front of the colon."""


def kernel_problem(text: str) -> Kernel | None:
    """The kernel of the registry that `text` is a problem of, where it has no shorter form."""
    name, colon, _ = text.partition(":")
    return NAMES.get(name) if colon and name not in KINDS else None


def parse_workload(text: str) -> Workload:
    """The problem that `text` names; UsageError says what is accepted."""
    name, colon, _ = text.partition(":")
    if colon and name in KINDS:
        return KINDS[name].parse(text)
    if colon and name in NAMES:
        return parse_kernel(text)
    known = "; ".join((*(kind.form for kind in KINDS.values()), FORM))
    what = f"problem `{shortened(text)}` is not understood{hint(name, [*KINDS, *NAMES])}"
    raise UsageError(f"{what}; accepted are {known}; or a file *.mlir")
