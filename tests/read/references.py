"""The functions of ``make_golden.py`` in NumPy, which share no code with what is tested."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Array = NDArray[Any]


def _softmax(x: Array) -> Array:
    raised = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True))


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


_erf = np.vectorize(math.erf, otypes=[np.float64])


def mlp(x: Array, w: Array, b: Array) -> tuple[Array, ...]:
    return (_softmax(np.maximum(x @ w + b, 0)),)


def attention(q: Array, k: Array, v: Array) -> tuple[Array, ...]:
    raised = np.exp(q @ k.T)
    return (raised / raised.sum(1, keepdims=True) @ v,)


def conv(x: Array, w: Array) -> tuple[Array, ...]:
    padded = np.pad(x, ((0, 0), (1, 1), (0, 2), (0, 0)))
    windows = sliding_window_view(padded, (3, 3), (1, 2))[:, ::2, ::2]
    y = np.einsum("byxcij,ijco->byxo", windows, w)
    y = sliding_window_view(y, (2, 2), (1, 2))[:, ::2, ::2].max((-1, -2))
    y = np.pad(y, ((0, 0), (0, 1), (0, 1), (0, 0)))
    return (sliding_window_view(y, (2, 2), (1, 2)).sum((-1, -2)),)


def grouped(x: Array, w: Array) -> tuple[Array, ...]:
    """Rows of the image lie 2 apart, columns of the kernel too; a channel makes two."""
    spread = np.zeros((1, 4, 9, 6))
    spread[:, :, ::2] = x
    padded = np.pad(spread, ((0, 0), (0, 0), (1, 1), (2, 0)))
    windows = sliding_window_view(padded, (3, 3), (2, 3))[:, :, :, ::2, :, ::2]
    made = np.einsum("bcyxij,cmij->bcmyx", windows, w.reshape(4, 2, 3, 2))
    return (made.reshape(1, 8, *made.shape[3:]),)


def embedding(table: Array, rows: Array) -> tuple[Array, ...]:
    """Negative rows count from the end; outside ``jnp.take`` gives NaN, the others the nearest row."""
    counted = np.where(rows < 0, rows + 100, rows)
    near = table[np.clip(counted, 0, 99)]
    outside = (counted < 0) | (counted > 99)
    return near, np.where(outside[:, None], np.nan, near), near


def layer_norm(x: Array, scale: Array, shift: Array) -> tuple[Array, ...]:
    centred = x - x.mean(-1, keepdims=True)
    return (centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale + shift,)


def batches(a: Array, b: Array) -> tuple[Array, ...]:
    turned = b.transpose(2, 1, 0)
    return np.einsum("bij,bkj->bik", a, b), np.einsum("bij,jkb->ibk", a, turned)


def integers(a: Array, b: Array) -> tuple[Array, ...]:
    quotient = np.array([[int(x / y) for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)])
    small = a.astype(np.int8).astype(np.int64)
    return (
        a << 2, a >> 1, a & b, a.max(0), a.min(), a.sum(), quotient, a - quotient * b, small @ small.T,
    )  # fmt: skip


def moves(x: Array, keep: Array) -> tuple[Array, ...]:
    padded = np.ones((7, 16))
    padded[1:5, :15:2] = x
    padded = padded[:, :14]
    parts = x[1:4:2, ::-1], np.concatenate([x, x], 1), np.where(keep, x, 0), np.clip(x, 0, 6)
    constants = np.array([[1, 2], [3, 4]]), np.array([1.5, -np.inf, 2.25])
    return padded, *parts, np.arange(4) * 3, *constants


def gelu(x: Array) -> tuple[Array, ...]:
    bent = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))
    return _erf(x), x / 2 * (1 + _erf(x / np.sqrt(2))), x / 2 * (1 + bent), x * _sigmoid(x)


def lstm(xs: Array, h: Array, c: Array, w_x: Array, w_h: Array, b: Array) -> tuple[Array, ...]:
    found = []
    for x in xs:
        i, f, g, o = np.split(x @ w_x.T + h @ w_h.T + b, 4, -1)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        h = _sigmoid(o) * np.tanh(c)
        found.append(h)
    return np.stack(found), c


REFERENCES: dict[str, Callable[..., tuple[Array, ...]]] = {
    one.__name__: one
    for one in (mlp, attention, conv, grouped, embedding, layer_norm, batches, integers, moves, gelu, lstm)
}
