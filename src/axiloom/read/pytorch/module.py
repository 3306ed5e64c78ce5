"""PyTorch in: ``model.py:build`` gives a module and example inputs; torch.export makes its graph."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch._decomp import get_decompositions

from axiloom.base.errors import CompileError, UsageError
from axiloom.base.python_file import call
from axiloom.read.context.model import Array
from axiloom.read.context.referee import Referee

_ACCEPTED = "it must return (module, example_inputs), a torch.nn.Module and a tuple of tensors"
MASKED = -12.0
"""A score that is not seen, where floats have minus infinity: int8 has to hold it beside the others."""
_RECURRENT = (torch.ops.aten.lstm.input, torch.ops.aten.gru.input)
"""Ops that run over a sequence, which is known: they become as many steps."""


def build(path: Path, function: str) -> tuple[Any, tuple[Any, ...]]:
    """Network, in evaluation mode, and example inputs that `function` of the file at `path` returns.

    Raises UsageError where it returns something else, or cannot be called.
    """
    name = f"{path}:{function}"
    result = call(path, function)
    if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], torch.nn.Module)):
        raise UsageError(f"{name}: returned {type(result).__name__}; {_ACCEPTED}")
    network, examples = result
    examples = (examples,) if isinstance(examples, torch.Tensor) else tuple(examples)
    if not all(isinstance(example, torch.Tensor) for example in examples):
        raise UsageError(f"{name}: example inputs that are no tensors; {_ACCEPTED}")
    return network.eval(), examples


def referee(network: Any, examples: Sequence[torch.Tensor]) -> Referee:
    """PyTorch on the user's own module, before anything is made of it; inputs are of the examples' types."""

    def run(arrays: Sequence[Array]) -> list[Array]:
        return results_of(network, inputs_of([*map(np.array, arrays)], examples))

    return Referee(f"PyTorch {torch.__version__}", run)


def results_of(network: Any, inputs: Sequence[Any]) -> list[Array]:
    """The tensors that a module returns, in whatever tuples, lists and dicts, in their order."""
    with torch.no_grad():
        leaves = torch.utils._pytree.tree_leaves(network(*inputs))
    return [value.numpy() for value in leaves if isinstance(value, torch.Tensor)]


def export(network: Any, examples: tuple[Any, ...], name: str) -> Any:
    """The ATen graph of a module (torch.export.ExportedProgram); CompileError says what does not export."""
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of how torch exports an LSTM's own weights
            return torch.export.export(network, examples)
    except Exception as error:
        raise CompileError(f"{name}: does not export: {first_line(error)}") from error


def _smallest(x: Any, dim: Sequence[int] = (), keepdim: bool = False) -> Any:
    """By the largest, which has an integer form."""
    return -torch.amax(-x, dim, keepdim)


_INSTEAD = {torch.ops.aten.amin.default: _smallest}
"""Ops in terms of others."""


def export_in_parts(network: Any, examples: tuple[Any, ...], name: str) -> Any:
    """The ATen graph as a torch.fx.GraphModule, for who watches and replaces each of its values: fused
    attention, recurrent ops and ops in place are in parts, all others as they are."""
    with _attention_in_parts():
        program = export(network, examples, name)
        table = {**get_decompositions(_RECURRENT), **_INSTEAD}
        if any(node.target in table or _writes(node) for node in program.graph.nodes):
            program = program.run_decompositions(table)
        return program.module()


def first_line(error: Exception) -> str:
    """torch's report of many lines in one: what is wrong, and the line of the model."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    place = next((f" (line {line})" for line in reversed(lines) if line.startswith('File "')), "")
    return f"{type(error).__name__}: {lines[0] if lines else ''}{place}"[:400]


def watched(module: Any, see: Callable[[str, Array], None]) -> Callable[[Sequence[Any]], None]:
    """A run of a torch.fx.GraphModule on inputs, in which `see` is called with the name and the value of each
    tensor of floats that an op or an input gives. The array is only valid during the call."""
    interpreter = torch.fx.Interpreter(module)
    plain = interpreter.run_node

    def run_node(node: Any) -> Any:
        value = plain(node)
        if isinstance(value, torch.Tensor) and value.dtype.is_floating_point and node.op != "get_attr":
            see(node.name, value.numpy())
        return value

    interpreter.run_node = run_node

    def run(inputs: Sequence[Any]) -> None:
        with torch.no_grad():
            interpreter.run(*inputs)

    return run


def random_inputs(examples: Sequence[Any], count: int, words: int, seed: int) -> list[tuple[Any, ...]]:
    """So many inputs like the examples: floats normal, bytes and indices uniform below `words`."""
    generator = torch.Generator().manual_seed(seed)
    return [tuple(_random(example, generator, words) for example in examples) for _ in range(count)]


def _random(example: Any, generator: torch.Generator, words: int) -> Any:
    if example.dtype.is_floating_point:
        return torch.randn(example.shape, generator=generator, dtype=example.dtype)
    limits = torch.iinfo(example.dtype)
    # Of a byte every value is a datum; of others only indices are known.
    low = max(limits.min, -words) if limits.bits == 8 else 0
    high = min(limits.max + 1, words)
    return torch.randint(low, high, example.shape, generator=generator, dtype=example.dtype)


def inputs_of(arrays: Sequence[Array], examples: Sequence[Any]) -> tuple[Any, ...]:
    """The arrays as tensors of the examples' types."""
    return tuple(torch.from_numpy(a).to(of.dtype) for a, of in zip(arrays, examples, strict=True))


def _writes(node: Any) -> bool:
    """Whether an op changes a value in place that somebody reads afterwards."""
    if node.op != "call_function" or not str(node.target).partition(".default")[0].endswith("_"):
        return False
    later, at = set[Any](), node
    while at.op != "output":
        at = at.next
        later.add(at)
    return any(user in later for user in node.args[0].users)


@contextmanager
def _attention_in_parts() -> Iterator[None]:
    """Let torch's fused attention be exported as products and a softmax, whose values are calibrated too."""
    fused = torch.nn.functional.scaled_dot_product_attention

    def parts(
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Any:
        if attn_mask is not None or enable_gqa:
            return fused(
                query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
            )
        factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
        scores = query @ key.transpose(-1, -2) * factor
        if is_causal:
            seen = torch.ones(query.shape[-2], key.shape[-2]).tril()
            scores = scores * seen + (1 - seen) * MASKED
        return torch.softmax(scores, -1) @ value

    torch.nn.functional.scaled_dot_product_attention = parts
    try:
        yield
    finally:
        torch.nn.functional.scaled_dot_product_attention = fused
