"""What each layer of a cut network takes and gives, by NumPy."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from axiloom.drivergen.evaluate.body import Values
from axiloom.drivergen.evaluate.reference import evaluate, execute
from axiloom.drivergen.network.passes.fold_constants import weight_names

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class CutNetwork:
    """Functions of layers, and the one that calls them. Layers have the numbers of their calls."""

    module: ModuleOp
    """As it was cut: nothing of it is packed for an accelerator yet."""
    inputs: Sequence[Array]
    """In the order of the network's arguments, without its weights."""
    weights: Mapping[str, Array]
    """By their names in ``axiloom.weight``."""
    _known: Values = field(default_factory=dict)

    @cached_property
    def _functions(self) -> dict[str, func.FuncOp]:
        return {
            function.sym_name.data: function
            for function in self.module.ops
            if isinstance(function, func.FuncOp)
        }

    @cached_property
    def _entry(self) -> func.FuncOp:
        (entry,) = [
            function for function in self._functions.values() if any(map(_is_call, function.body.block.ops))
        ]
        return entry

    @cached_property
    def _calls(self) -> list[func.CallOp]:
        return [op for op in self._entry.body.block.ops if isinstance(op, func.CallOp)]

    @cached_property
    def _weights(self) -> dict[SSAValue, str]:
        names = weight_names(self._entry)
        return {arg: name for arg, name in zip(self._entry.args, names, strict=True) if name is not None}

    def layer_text(self, layer: int) -> str:
        """The MLIR of its function."""
        return str(self._functions[self._calls[layer].callee.root_reference.data])

    def layer_weights(self, layer: int) -> list[Array]:
        """Those of its arguments that are weights."""
        return [
            self.weights[self._weights[argument]]
            for argument in self._calls[layer].arguments
            if argument in self._weights
        ]

    def readers(self, layer: int) -> set[int]:
        """Layers that need one of its results, also through views; -1: the network returns one."""
        seen: set[SSAValue] = set()
        found: set[int] = set()
        left = list(self._calls[layer].results)
        while left:
            value = left.pop()
            if value in seen:
                continue
            seen.add(value)
            for use in value.uses:
                if isinstance(use.operation, func.CallOp):
                    found.add(self._calls.index(use.operation))
                elif isinstance(use.operation, func.ReturnOp):
                    found.add(-1)
                else:
                    left += use.operation.results
        return found

    def results(self, layers: Collection[int]) -> dict[int, list[Array]]:
        """The results of these layers. Layers that none of them depends on are not computed."""
        wanted = [self._calls[layer] for layer in layers]
        needed = self._needed(wanted)
        if not self._known:
            rest = iter(self.inputs)
            for arg in self._entry.args:
                self._known[arg] = self.weights[self._weights[arg]] if arg in self._weights else next(rest)
        with np.errstate(all="ignore"):
            for op in self._entry.body.block.ops:
                if op not in needed or any(result in self._known for result in op.results):
                    continue
                if isinstance(op, func.CallOp):
                    function = self._functions[op.callee.root_reference.data]
                    results = evaluate(function, [self._known[argument] for argument in op.arguments])
                    self._known.update(zip(op.results, results, strict=True))
                else:
                    execute(op, self._known)
        return {layer: [self._known[result] for result in self._calls[layer].results] for layer in layers}

    def _needed(self, wanted: Sequence[Operation]) -> set[Operation]:
        operations: set[Operation] = set()
        left = list(wanted)
        while left:
            op = left.pop()
            if op in operations:
                continue
            operations.add(op)
            left += [
                operand.owner
                for operand in op.operands
                if isinstance(operand.owner, Operation) and operand not in self._known
            ]
        return operations


def _is_call(op: Operation) -> bool:
    return isinstance(op, func.CallOp)
