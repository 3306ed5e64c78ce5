"""Writes ``golden/``: what JAX prints for the functions below. Run it by hand where jax is installed.

``NAME.mlir`` is StableHLO, ``NAME.hlo`` HLO before and ``NAME.opt.hlo`` after XLA's optimisation for a CPU.
The tests compute the same functions with NumPy and need no jax. Made with jax 0.10.2.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parent / "golden"


def cases() -> dict[str, tuple[Any, list[Any]]]:
    """Function and shapes of its arguments, by name."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def of(*shape: int, number: Any = jnp.float32) -> Any:
        return jax.ShapeDtypeStruct(shape, number)

    def mlp(x: Any, w: Any, b: Any) -> Any:
        return jax.nn.softmax(jax.nn.relu(x @ w + b), axis=-1)

    def attention(q: Any, k: Any, v: Any) -> Any:
        raised = jnp.exp(lax.dot_general(q, k, (((1,), (1,)), ((), ()))))
        return (raised / raised.sum(1, keepdims=True)) @ v

    def conv(x: Any, w: Any) -> Any:
        dims = ("NHWC", "HWIO", "NHWC")
        y = lax.conv_general_dilated(x, w, (2, 2), [(1, 1), (0, 2)], dimension_numbers=dims)
        y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return lax.reduce_window(y, 0.0, lax.add, (1, 2, 2, 1), (1, 1, 1, 1), "SAME")

    def grouped(x: Any, w: Any) -> Any:
        return lax.conv_general_dilated(
            x, w, (1, 2), [(1, 1), (2, 0)], lhs_dilation=(2, 1), rhs_dilation=(1, 2),
            dimension_numbers=("NCHW", "OIHW", "NCHW"), feature_group_count=4,
        )  # fmt: skip

    def embedding(table: Any, rows: Any) -> Any:
        return table[rows], jnp.take(table, rows, axis=0), table.at[rows].get(mode="clip")

    def layer_norm(x: Any, scale: Any, shift: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred * lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale + shift

    def batches(a: Any, b: Any) -> Any:
        return jnp.einsum("bij,bkj->bik", a, b), jnp.einsum("bij,jkb->ibk", a, jnp.transpose(b, (2, 1, 0)))

    def integers(a: Any, b: Any) -> Any:
        small = lax.convert_element_type(a, jnp.int8)
        product = lax.dot_general(small, small, (((1,), (1,)), ((), ())), preferred_element_type=jnp.int32)
        return a << 2, a >> 1, a & b, a.max(0), a.min(), a.sum((0, 1)), lax.div(a, b), lax.rem(a, b), product

    def moves(x: Any, keep: Any) -> Any:
        padded = lax.pad(x, jnp.float32(1), ((1, 2, 0), (0, -1, 1)))
        constants = jnp.array([[1, 2], [3, 4]], jnp.int8), jnp.array([1.5, -jnp.inf, 2.25])
        parts = x[1:4:2, ::-1], jnp.concatenate([x, x], 1), jnp.where(keep, x, 0.0), jnp.clip(x, 0, 6)
        return padded, *parts, jnp.arange(4) * 3, *constants

    def gelu(x: Any) -> Any:
        return lax.erf(x), jax.nn.gelu(x, approximate=False), jax.nn.gelu(x), jax.nn.silu(x)

    def lstm(xs: Any, h: Any, c: Any, w_x: Any, w_h: Any, b: Any) -> Any:
        found = []
        for step in range(xs.shape[0]):
            i, f, g, o = jnp.split(xs[step] @ w_x.T + h @ w_h.T + b, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            found.append(h)
        return jnp.stack(found), c

    ints, bfloats = {"number": jnp.int32}, {"number": jnp.bfloat16}
    return {
        "mlp": (mlp, [of(4, 8), of(8, 16), of(16)]),
        "attention": (attention, [of(64, 64, **bfloats)] * 3),
        "conv": (conv, [of(1, 16, 16, 3), of(3, 3, 3, 8)]),
        "grouped": (grouped, [of(1, 4, 5, 6), of(8, 1, 3, 2)]),
        "embedding": (embedding, [of(100, 8), of(5, **ints)]),
        "layer_norm": (layer_norm, [of(3, 16), of(16), of(16)]),
        "batches": (batches, [of(2, 3, 4), of(2, 5, 4)]),
        "integers": (integers, [of(3, 4, **ints)] * 2),
        "moves": (moves, [of(4, 8), of(4, 8, number=jnp.bool_)]),
        "gelu": (gelu, [of(3, 5)]),
        "lstm": (lstm, [of(3, 2, 4), of(2, 8), of(2, 8), of(32, 4), of(32, 8), of(32)]),
    }


def write() -> None:
    import jax

    GOLDEN.mkdir(exist_ok=True)
    for name, (function, shapes) in cases().items():
        lowered = jax.jit(function).lower(*shapes)
        texts = {
            ".mlir": lowered.as_text(debug_info=name == "mlp"),
            ".hlo": lowered.as_text(dialect="hlo"),
            ".opt.hlo": lowered.compile().as_text(),
        }
        for suffix, text in texts.items():
            (GOLDEN / f"{name}{suffix}").write_text(text.replace(str(Path(__file__)), "model.py"))


if __name__ == "__main__":
    write()
