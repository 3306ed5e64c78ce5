"""How products of a network are given to accelerators: all at once, by an e-graph, or each by its form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from axiloom.base import extras
from axiloom.base.errors import UsageError
from axiloom.isa import AcceleratorSpec

EXTRA = "select"
SOLVERS = ("egglog", "ortools")
"""Of that extra: without one nothing is chosen."""


@dataclass(frozen=True)
class How:
    """How products of a network are given to accelerators."""

    egraph: bool
    asked: bool
    """By an option: what cannot be done is then an error."""
    because: str = ""
    """Why it is matching although nobody asked for that."""


MATCHING, EGRAPH = "matching", "egraph"


def of_network(
    specs: Sequence[AcceleratorSpec],
    asked: str | None = None,
    offload_from: int | None = None,
    *,
    stands_in: bool = False,
) -> How:
    """As it is `asked` for, or the best that can be done. `stands_in`: RTL, or the functional model, in an
    accelerator's place. Raises UsageError where `EGRAPH` is asked for in vain."""
    if asked == MATCHING:
        return How(egraph=False, asked=True)
    if asked == EGRAPH:
        if offload_from is not None:
            raise UsageError("--offload-from: --select egraph weighs every product: leave it out")
        check_extra()
        return How(egraph=True, asked=True)
    if offload_from is not None:
        because = "egraph weighs every product and knows no --offload-from"
    else:
        because = _hindered(specs, stands_in)
    return How(egraph=not because, asked=False, because=because)


def check_extra() -> None:
    """Raises UsageError where a solver is not installed."""
    if solver := missing():
        raise UsageError(f"--select egraph needs {solver}: {extras.install(EXTRA)}")


def _hindered(specs: Sequence[AcceleratorSpec], stands_in: bool) -> str:
    """Why an e-graph is not the default of a network, if it is not."""
    if stands_in:
        return "the cycles of --rtl are in no cost model"
    if solver := missing():
        return f"egraph needs {solver}: {extras.install(EXTRA)}"
    from axiloom.selection.partition.kernels import kernels_of

    for spec in specs:
        if kernels_of(spec.kernel) is None:
            return f"egraph has no patterns for `{spec.kernel}`, which {spec.name} computes"
    return ""


def missing() -> str:
    """The first solver that is not installed, if one is not."""
    return next((name for name in SOLVERS if find_spec(name) is None), "")
