"""What hardware is chosen for: the products of one problem or of a whole network, each with how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from axiloom.base.errors import CompileError
from axiloom.drivergen.cost.selection import schedules
from axiloom.drivergen.network import compile_network
from axiloom.drivergen.problems.matmul import Problem
from axiloom.isa import AcceleratorSpec
from axiloom.isa.files.post import without_post

BEAT_BYTES = 16
"""Of the widest stream."""


@dataclass(frozen=True)
class Product:
    """One product, `count` times; `flow`: the only one that may be taken (None: any)."""

    problem: Problem
    count: int = 1
    flow: str | None = None

    @property
    def multiply_adds(self) -> int:
        return self.problem.M * self.problem.N * self.problem.K * self.count


@dataclass(frozen=True)
class Work:
    """`name`: the problem or the file, as the user named it."""

    name: str
    products: tuple[Product, ...]

    @property
    def multiply_adds(self) -> int:
        return sum(product.multiply_adds for product in self.products)


def of_problem(problem: Problem) -> Work:
    name = f"matmul:{problem.M}x{problem.N}x{problem.K}:{problem.dtype}"
    return Work(name, (Product(problem),))


def of_network(
    name: str, mlir: str, weights: Mapping[str, np.ndarray[Any, Any]], spec: AcceleratorSpec
) -> Work:
    """The products of a network that `spec` takes, equal ones together.

    Raises CompileError if there is none, or if one of them is no matrix product.
    """
    driver = compile_network(mlir, spec, weights, name=name)
    known = {flow for flow, _ in schedules(without_post(spec))}
    counts: Counter[Product] = Counter()
    for layer in driver.layers:
        for call in driver.uses.get(layer.function, ()):
            sizes = dict(call.sizes)
            if not {"m", "n", "k"} <= sizes.keys():
                raise CompileError(f"{name}: {layer.name} is no matrix product; hardware is chosen for those")
            # A weight is packed before, so that its rows are whole beats of the stream.
            unit = BEAT_BYTES * 8 // spec.data_type.bits if layer.constant else 1
            problem = Problem(
                sizes["m"], -(-sizes["n"] // unit) * unit, sizes["k"], spec.data_type.value, call.results
            )
            # What is rounded on the device stays there until it is whole: one flow keeps it.
            flow = None if call.flow in known else without_post(spec).selected_flow
            batches = prod(size for dim, size in sizes.items() if dim not in "mnk")
            counts[Product(problem, 1, flow)] += batches
    if not counts:
        raise CompileError(f"{name}: {spec.name} takes none of its layers")
    products = (Product(product.problem, count, product.flow) for product, count in counts.items())
    return Work(name, tuple(sorted(products, key=lambda product: -product.multiply_adds)))
