"""ONNX's recurrent ops in torch: a step for each element of the sequence, by the formulas of ONNX's
operators.

A first state that is missing is None, not zeros: the first step then costs no products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from axiloom.read.onnx.function import NodeError, passing_on

Known = np.ndarray[Any, Any]
_FUNCTIONS = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}
State = list[Any]
Step = Callable[[int, Any, State, list[Any]], State]
"""The new state from the number of the direction, what the input adds to the gates, the old state and the
activations."""


def _activations(names: Sequence[str] | None, defaults: Sequence[str], directions: int) -> list[list[Any]]:
    """The functions of each direction."""
    words = [name.lower() for name in names or list(defaults) * directions]
    if unknown := [word for word in words if word not in _FUNCTIONS]:
        raise NodeError(f"activation {unknown[0]}; Sigmoid, Tanh and Relu are read")
    if len(words) < len(defaults) * directions:  # by default RNN has those of both directions
        raise NodeError(f"{len(words)} activations in place of {len(defaults) * directions}")
    functions = [_FUNCTIONS[word] for word in words]
    return [functions[at : at + len(defaults)] for at in range(0, len(functions), len(defaults))]


def _run(
    X: Any,
    W: Any,
    bias: Any,
    states: State,
    step: Step,
    defaults: Sequence[str],
    *,
    activations: Sequence[str] | None = None,
    direction: str = "forward",
    sequence_lens: Known | None = None,
    layout: int = 0,
    hidden_size: int | None = None,  # that of W
) -> tuple[Any, ...]:
    """Y and the last of each state; `states` are the first ones (directions, batch, hidden)."""
    functions = _activations(activations, defaults, W.shape[0])
    if layout:
        X = X.transpose(0, 1)
        states = [state if state is None else state.transpose(0, 1) for state in states]
    length = X.shape[0]
    if sequence_lens is not None and any(int(size) != length for size in sequence_lens):
        raise NodeError("sequence_lens of less than the whole sequence")
    sequences, lasts = [], []
    for number in range(W.shape[0]):
        # The input's part of all steps at once: one product in place of one a step.
        inputs = _plus(_by(X, W[number]), _row(bias, number))
        backwards = direction == "reverse" or number == 1
        state = [_row(value, number) for value in states]
        hidden = {}
        for place in range(length)[::-1] if backwards else range(length):
            state = step(number, inputs[place], state, functions[number])
            hidden[place] = state[0]
        sequences.append(torch.stack([hidden[place] for place in range(length)]))
        lasts.append(state)
    whole = torch.stack(sequences, 1)
    ends = [torch.stack(state) for state in zip(*lasts, strict=True)]
    if layout:
        return (whole.permute(2, 0, 1, 3), *(end.transpose(0, 1) for end in ends))
    return (whole, *ends)


def _row(values: Any, number: int) -> Any:
    return None if values is None else values[number]


def _by(value: Any, matrix: Any) -> Any:
    return None if value is None else torch.matmul(value, matrix.t())


def _plus(value: Any, more: Any) -> Any:
    return value if more is None else more if value is None else value + more


def _times(factor: Any, value: Any) -> Any:
    return None if value is None else factor * value


def _halves(B: Any, size: int) -> tuple[Any, Any]:
    """Before and from `size` on (directions, size)."""
    return (None, None) if B is None else (B[:, :size], B[:, size:])


@passing_on(_run)
def rnn(X: Any, W: Any, R: Any, B: Any = None, initial_h: Any = None, **how: Any) -> Any:
    def step(number: int, inputs: Any, state: State, functions: list[Any]) -> State:
        return [functions[0](_plus(inputs, _by(state[0], R[number])))]

    bias = _plus(*_halves(B, W.shape[1]))
    return _run(X, W, bias, [initial_h], step, ("Tanh",), **how)


@passing_on(_run)
def gru(
    X: Any, W: Any, R: Any, B: Any = None, initial_h: Any = None, linear_before_reset: int = 0, **how: Any
) -> Any:
    n = R.shape[2]
    first, second = _halves(B, 3 * n)
    of_gates, of_new = _halves(second, 2 * n)

    def step(number: int, inputs: Any, state: State, functions: list[Any]) -> State:
        (h,), (gate, function) = state, functions
        zr = _plus(inputs[:, : 2 * n], _row(of_gates, number))
        zr = gate(_plus(zr, _by(h, R[number, : 2 * n])))
        z, r = zr[:, :n], zr[:, n:]
        matrix, offset = R[number, 2 * n :], _row(of_new, number)
        if linear_before_reset:
            part = _times(r, _plus(_by(h, matrix), offset))
        else:
            part = _plus(_by(_times(r, h), matrix), offset)
        candidate = (1 - z) * function(_plus(inputs[:, 2 * n :], part))
        return [_plus(candidate, _times(z, h))]

    return _run(X, W, first, [initial_h], step, ("Sigmoid", "Tanh"), **how)


@passing_on(_run)
def lstm(
    X: Any,
    W: Any,
    R: Any,
    B: Any = None,
    initial_h: Any = None,
    initial_c: Any = None,
    P: Any = None,
    input_forget: int = 0,
    **how: Any,
) -> Any:
    n = R.shape[2]

    def step(number: int, inputs: Any, state: State, functions: list[Any]) -> State:
        (h, c), (gate, function, output) = state, functions
        total = _plus(inputs, _by(h, R[number]))
        i, o, f, g = (total[:, at * n : (at + 1) * n] for at in range(4))
        peeps = [None] * 3 if P is None else [P[number, at * n : (at + 1) * n] for at in range(3)]
        if P is not None:
            i, f = _plus(i, _times(peeps[0], c)), _plus(f, _times(peeps[2], c))
        i = gate(i)
        f = 1 - i if input_forget else gate(f)
        c = _plus(i * function(g), _times(f, c))
        if P is not None:
            o = o + peeps[1] * c
        return [gate(o) * output(c), c]

    bias = _plus(*_halves(B, 4 * n))
    return _run(X, W, bias, [initial_h, initial_c], step, ("Sigmoid", "Tanh", "Tanh"), **how)
