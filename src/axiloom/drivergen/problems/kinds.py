"""The kinds of problems that the command line names in short. A new kind is one file, and one entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from axiloom.base.errors import UsageError
from axiloom.base.wording.names import hint, shortened
from axiloom.drivergen.problems.conv import CONV_FORM, parse_conv
from axiloom.drivergen.problems.copies import COPY_FORM, parse_copy
from axiloom.drivergen.problems.depthwise import DEPTHWISE_FORM, parse_depthwise
from axiloom.drivergen.problems.kernels import FORM, NAMES, parse_kernel
from axiloom.drivergen.problems.matmul import MATMUL_FORM, parse_problem
from axiloom.drivergen.problems.products import FORMS, parse_product
from axiloom.isa import AcceleratorSpec
from axiloom.isa.kernels.forms import COPY, IMAGE, MATMUL, WINDOW, Form
from axiloom.isa.kernels.language.kernel import Kernel


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
    forms: tuple[Form, ...] = ()
    """Of the accelerators that it is made for."""
    small: Callable[[AcceleratorSpec], str] | None = None
    """A problem of a few tiles of such an accelerator."""


def _small_matmul(spec: AcceleratorSpec) -> str:
    sizes = "x".join(str(2 * size if size >= 16 else 4 * size) for size in spec.tile.size)
    return f"matmul:{sizes}:{spec.data_type.value}"


def _small_conv(spec: AcceleratorSpec) -> str:
    return f"conv:10_8_3_8_1:{spec.data_type.value}"


def _small_copy(spec: AcceleratorSpec) -> str:
    return f"copy:{4 * spec.tile.size[0]}"


KINDS: Mapping[str, Kind] = {
    "matmul": Kind(MATMUL_FORM, parse_problem, (MATMUL,), _small_matmul),
    "conv": Kind(CONV_FORM, parse_conv, (IMAGE, WINDOW), _small_conv),
    **{name: Kind(form.text, parse_product) for name, form in FORMS.items()},
    "dwconv": Kind(DEPTHWISE_FORM, parse_depthwise),
    "copy": Kind(COPY_FORM, parse_copy, (COPY,), _small_copy),
}
"""By what stands in front of the colon."""


def small(spec: AcceleratorSpec) -> str:
    """A problem of a few tiles, as the command line names it; UsageError where no kind has one."""
    for kind in KINDS.values():
        if spec.form in kind.forms and kind.small is not None:
            return kind.small(spec)
    raise UsageError(f"{spec.name}: give a problem for {spec.kernel}, as a file of MLIR")


def kernel_problem(text: str) -> Kernel | None:
    """The kernel of the registry that `text` is a problem of, where it has no shorter form."""
    name, colon, _ = text.partition(":")
    return NAMES.get(name) if colon and name not in KINDS else None


LONGEST_PATH = 256
"""Characters of what may be one: the system refuses longer names."""


def parse_workload(text: str) -> Workload:
    """The problem that `text` names; UsageError says what is accepted."""
    name, colon, _ = text.partition(":")
    if colon and name in KINDS:
        return KINDS[name].parse(text)
    if colon and name in NAMES:
        return parse_kernel(text)
    if name in KINDS and not colon:
        raise UsageError(f"problem `{name}` has no sizes; accepted are {KINDS[name].form}; or a file *.mlir")
    if 0 < len(text) < LONGEST_PATH and Path(text).exists():
        what = "is a folder" if Path(text).is_dir() else "is no file of a problem by its name"
        raise UsageError(f"{text}: {what}; accepted are FILE.mlir, FILE.onnx, FILE.py:FUNCTION and FILE.c")
    known = "; ".join((*(kind.form for kind in KINDS.values()), FORM))
    what = f"problem `{shortened(text)}` is not understood{hint(name, [*KINDS, *NAMES])}"
    raise UsageError(f"{what}; accepted are {known}; or a file *.mlir")
