"""What programs by hand (``sw/baselines/``) are given: sizes on the compile line, and arrays by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from axiloom.base.errors import UsageError
from axiloom.drivergen import ConvProblem, Problem, parse_workload
from axiloom.drivergen.problems.kinds import Workload

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class ByHand:
    """A problem as the programs by hand see it. They have no batch."""

    sizes: Mapping[str, int]
    """Macros."""
    inputs: tuple[tuple[str, Shape], ...]
    """Names of the arrays, in the order of our arguments, and their shapes."""
    result_name: str
    shape: Shape
    ours: Shape
    """Shape of the result among our arguments."""

    @classmethod
    def of(cls, problem: str) -> ByHand:
        """Of a problem as the command line names it; UsageError for padding and dilation."""
        parsed, kind = parse_workload(problem), problem.partition(":")[0]
        if kind not in PROGRAMS:
            raise UsageError(f"{problem}: {PROGRAMS_ARE_FOR}")
        return PROGRAMS[kind](problem, parsed)

    @property
    def output(self) -> dict[str, tuple[Shape, str]]:
        """As the simulator takes it."""
        return {self.result_name: (self.shape, "int32")}

    def given(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Our inputs under their names."""
        return {
            name: inputs[f"axl_arg{number}"].reshape(shape)
            for number, (name, shape) in enumerate(self.inputs)
        }

    def result(self, outputs: Mapping[str, Array]) -> Array:
        """Their result in the shape of ours."""
        return outputs[self.result_name].reshape(self.ours)


def _matmul(problem: str, workload: Workload) -> ByHand:
    assert isinstance(workload, Problem), problem
    M, N, K = workload.M, workload.N, workload.K
    arrays = (("A", (M, K)), ("B", (K, N)), ("C", (M, N)))
    return ByHand({"M": M, "N": N, "K": K}, arrays, "C", (M, N), (M, N))


def _convolution(problem: str, workload: Workload) -> ByHand:
    assert isinstance(workload, ConvProblem), problem
    if workload.groups != 1:
        raise UsageError(f"{problem}: {PROGRAMS_ARE_FOR}")
    if workload.pad != (0, 0) or workload.dilation != (1, 1):
        raise UsageError(f"{problem}: programs by hand neither pad nor dilate; give the image padded")
    names = ("IC", "IH", "IW", "OC", "FH", "FW", "SH", "SW")
    shape = (workload.oc, *workload.output)
    image, filters = (workload.ic, *workload.image), (workload.oc, workload.ic, *workload.taps)
    sizes = {name: workload.sizes[name] for name in names}
    return ByHand(sizes, (("I", image), ("F", filters)), "O", shape, (1, *shape))


PROGRAMS_ARE_FOR = "programs by hand are for matmul:MxNxK and for conv:... without groups"
PROGRAMS: Mapping[str, Callable[[str, Workload], ByHand]] = {"matmul": _matmul, "conv": _convolution}
"""By the kind of problem."""
