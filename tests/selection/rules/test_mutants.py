"""Rules with a small fault are refuted, with numbers that were computed; some are faulty in their types."""

from __future__ import annotations

import pytest

from axiloom.selection.rules import library
from axiloom.selection.rules.prove.verdicts import Answer, judge
from axiloom.selection.rules.text import parse

MUTANTS = (
    ("add_turned", "new = add(y, x)", "new = subtract(y, x)"),
    ("wide_convert", "assert holds(middle, number_of(x)) or bits(number) <= bits(middle)", ""),
    ("relu_is_maximum", "value=numeral(number, 0)", "value=numeral(number, 1)"),
    ("transposes", "tuple(p[i] for i in q)", "tuple(q[i] for i in p)"),
    ("slices", "limit=tuple(i + j for i, j in zip(a, d))", "limit=d"),
    ("second_of_two", "start=(m, 0)", "start=(0, 0)"),
    ("joined_again", "start=(a, 0)", "start=(0, 0)"),
    ("cut_padding", "start=(0, 0)", "start=(b, 0)"),
    ("pool_is_windows", "strides=(sh, sw)", "strides=(sw, sh)"),
    ("pool_of_pairs", "start=(1, 0)", "start=(0, 0)"),
    ("pool_by_dimension", "window=(1, wh, 1, 1), strides=(1, sh", "window=(1, wh, 1, 1), strides=(1, sw"),
    ("pool_of_columns", "shape=(b * h, w, 1, c)", "shape=(b * w, h, 1, c)"),
    ("pool_of_rows", "assert a > 1 and h % a == 0", "assert a > 1"),
    ("pool_in_steps", "half = a // 2", "half = a // 2 + 1"),
    ("reduce_is_dense", "numeral(number_of(x), 1)", "numeral(number_of(x), 2)"),
    ("dense_of_matrix", "reshape(x, shape=(prod(rows), k))", "reshape(x, shape=(k, prod(rows)))"),
    ("dense_has_bias", "numeral(number, 0)", "numeral(number, 1)"),
    ("bias_before_folded_rows", "dimension=2", "dimension=1"),
    ("rows_padded", "limit=(m, n)", "limit=(m - 1, n)"),
    (
        "terms_padded",
        "zero = splat(shape=(), number=number_of(x), value=numeral(number_of(x), 0))\n"
        "    nothing = splat(shape=(), number=number_of(w), value=numeral(number_of(w), 0))",
        "zero = splat(shape=(), number=number_of(x), value=numeral(number_of(x), 1))\n"
        "    nothing = splat(shape=(), number=number_of(w), value=numeral(number_of(w), 1))",
    ),
    ("terms_in_parts", "start=(0, t), limit=(n, k)", "start=(0, 0), limit=(n, k - t)"),
    ("im2col", "(0, 1, 2, 4, 5, 3)", "(0, 1, 2, 5, 4, 3)"),
    ("channels_last", "permutation=(2, 3, 1, 0)", "permutation=(3, 2, 1, 0)"),
    ("scaled_dense", "shift, dimension=rank(x) - 1)", "scale, dimension=rank(x) - 1)"),
    ("product_with_identity", 'direction="EQ"', 'direction="LE"'),
    ("lstm_last_step", "new = concatenate(hs,", "new = concatenate(cs,"),
    ("lstm_last_step", "last_h, last_c, w_x", "last_h, c, w_x"),
    ("lstm_c_is_its_definition", "limit=(b, 2 * n)", "limit=(b, 3 * n)"),
)  # fmt: skip


def _source(name: str) -> tuple[str, str]:
    """A rule's own text, with its decorators, and its file."""
    for file in library.every():
        for part in file.text.split("\n\n\n"):
            if f"def {name}(" in part:
                return part.strip() + "\n", file.place
    raise AssertionError(name)


@pytest.mark.parametrize(
    ("name", "old", "new"), MUTANTS, ids=[f"{i}_{one[0]}" for i, one in enumerate(MUTANTS)]
)
def test_mutant(name: str, old: str, new: str) -> None:
    text, place = _source(name)
    head, found, tail = text.rpartition(old)
    assert found
    rule = parse(head + new + tail, place)[0]
    proof = judge(rule, 30)
    assert proof.answer is Answer.REFUTED, (proof.answer, proof.why)
    assert any(word in proof.why for word in ("left", "becomes", "has no type"))
