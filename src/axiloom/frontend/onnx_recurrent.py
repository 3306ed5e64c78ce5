"""ONNX's recurrent ops in torch: a step for each element of the sequence, by the formulas of ONNX's
operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from axiloom.frontend.onnx_refusal import NodeError

Known = np.ndarray[Any, Any]
_FUNCTIONS = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}
Step = Callable[[int, Any, list[Any]], list[Any]]
"""The new state from the number of the direction, what the input adds to the gates, and the old state."""


def _activations(names: Sequence[Any] | None, defaults: Sequence[str], directions: int) -> list[list[Any]]:
    """The functions of each direction."""
    words = [str(name) for name in names] if names else list(defaults) * directions
    unknown = [word for word in words if word.lower() not in _FUNCTIONS]
    if unknown:
        raise NodeError(f"activation {unknown[0]}; Sigmoid, Tanh and Relu are read")
    functions = [_FUNCTIONS[word.lower()] for word in words]
    return [functions[at : at + len(defaults)] for at in range(0, len(functions), len(defaults))]


def _run(
    X: Any,
    W: Any,
    bias: Any,
    states: Sequence[Any],
    step: Step,
    direction: str,
    lengths: Known | None,
    layout: int,
) -> tuple[Any, ...]:
    """Y and the last of each state; `states` are the first ones (directions, batch, hidden), None for
    zeros."""
    if layout:
        X = X.transpose(0, 1)
        states = [state if state is None else state.transpose(0, 1) for state in states]
    length = X.shape[0]
    if lengths is not None and any(int(size) != length for size in lengths):
        raise NodeError("sequence_lens of less than the whole sequence")
    sequences, lasts = [], []
    for number in range(W.shape[0]):
        # The input's part of all steps at once: one product in place of one a step.
        inputs = torch.matmul(X, W[number].t())
        if bias is not None:
            inputs = inputs + bias[number]
        backwards = direction == "reverse" or number == 1
        order = range(length)[::-1] if backwards else range(length)
        state = [value if value is None else value[number] for value in states]
        hidden = {}
        for place in order:
            state = step(number, inputs[place], state)
            hidden[place] = state[0]
        sequences.append(torch.stack([hidden[place] for place in range(length)]))
        lasts.append(state)
    whole = torch.stack(sequences, 1)
    ends = [torch.stack([state[at] for state in lasts]) for at in range(len(lasts[0]))]
    if layout:
        return (whole.permute(2, 0, 1, 3), *(end.transpose(0, 1) for end in ends))
    return (whole, *ends)


def _halves(B: Any, size: int) -> tuple[Any, Any]:
    """The biases of the input's and of the state's part (directions, size)."""
    return (None, None) if B is None else (B[:, :size], B[:, size:])


def _plus(value: Any, more: Any) -> Any:
    return value if more is None else more if value is None else value + more


def rnn(
    X: Any, W: Any, R: Any, B: Any = None, sequence_lens: Known | None = None, initial_h: Any = None,
    activations: Sequence[Any] | None = None, direction: str = "forward", hidden_size: int | None = None,
    layout: int = 0,
) -> Any:  # fmt: skip
    functions = _activations(activations, ("Tanh",), W.shape[0])
    first, second = _halves(B, W.shape[1])

    def step(number: int, inputs: Any, state: list[Any]) -> list[Any]:
        (h,) = state
        total = inputs if h is None else inputs + torch.matmul(h, R[number].t())
        return [functions[number][0](total)]

    return _run(X, W, _plus(first, second), [initial_h], step, direction, sequence_lens, layout)


def gru(
    X: Any, W: Any, R: Any, B: Any = None, sequence_lens: Known | None = None, initial_h: Any = None,
    activations: Sequence[Any] | None = None, direction: str = "forward", hidden_size: int | None = None,
    linear_before_reset: int = 0, layout: int = 0,
) -> Any:  # fmt: skip
    n = R.shape[2]
    functions = _activations(activations, ("Sigmoid", "Tanh"), W.shape[0])
    first, second = _halves(B, 3 * n)

    def step(number: int, inputs: Any, state: list[Any]) -> list[Any]:
        (h,), (gate, function) = state, functions[number]
        own = None if second is None else second[number]
        zr, new = inputs[:, : 2 * n], inputs[:, 2 * n :]
        if own is not None:
            zr = zr + own[: 2 * n]
        if h is not None:
            zr = zr + torch.matmul(h, R[number, : 2 * n].t())
        z, r = gate(zr[:, :n]), gate(zr[:, n:])
        part = None
        if linear_before_reset:
            part = _plus(
                None if h is None else torch.matmul(h, R[number, 2 * n :].t()),
                None if own is None else own[2 * n :],
            )
            part = None if part is None else r * part
        else:
            part = _plus(
                None if h is None else torch.matmul(r * h, R[number, 2 * n :].t()),
                None if own is None else own[2 * n :],
            )
        candidate = function(_plus(new, part))
        kept = (1 - z) * candidate
        return [kept if h is None else kept + z * h]

    return _run(X, W, first, [initial_h], step, direction, sequence_lens, layout)


def lstm(
    X: Any, W: Any, R: Any, B: Any = None, sequence_lens: Known | None = None, initial_h: Any = None,
    initial_c: Any = None, P: Any = None, activations: Sequence[Any] | None = None,
    direction: str = "forward", hidden_size: int | None = None, input_forget: int = 0, layout: int = 0,
) -> Any:  # fmt: skip
    n = R.shape[2]
    functions = _activations(activations, ("Sigmoid", "Tanh", "Tanh"), W.shape[0])
    first, second = _halves(B, 4 * n)

    def step(number: int, inputs: Any, state: list[Any]) -> list[Any]:
        (h, c), (gate, function, output) = state, functions[number]
        total = inputs if h is None else inputs + torch.matmul(h, R[number].t())
        i, o, f, g = (total[:, at * n : (at + 1) * n] for at in range(4))
        peep = None if P is None else P[number]
        if peep is not None and c is not None:
            i, f = i + peep[:n] * c, f + peep[2 * n :] * c
        i = gate(i)
        f = 1 - i if input_forget else gate(f)
        new = i * function(g)
        c = new if c is None else f * c + new
        if peep is not None:
            o = o + peep[n : 2 * n] * c
        return [gate(o) * output(c), c]

    return _run(X, W, _plus(first, second), [initial_h, initial_c], step, direction, sequence_lens, layout)
