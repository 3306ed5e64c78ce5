"""Local rewrites: what a pattern refuses reaches the user as it was said."""

from __future__ import annotations

import pytest
from xdsl.dialects import arith
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from axiloom.base.errors import CompileError
from axiloom.drivergen.dialects.mlir import fail, parse
from axiloom.drivergen.dialects.patterns import rewrite

TEXT = """\
func.func @f() {
  %c0 = arith.constant 0 : index
  func.return
}"""


class _Refuses(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.ConstantOp, rewriter: PatternRewriter) -> None:
        fail(op, "no constants")


class _Grows(RewritePattern):
    """Each constant gets one more in front of it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.ConstantOp, rewriter: PatternRewriter) -> None:
        rewriter.insert(op.clone())


def test_what_is_refused() -> None:
    with pytest.raises(CompileError) as caught:
        rewrite(parse(TEXT), _Refuses())
    assert str(caught.value) == "input.mlir:2:3: arith.constant: no constants"


def test_what_a_pattern_makes_is_not_looked_at_again() -> None:
    module = parse(TEXT)
    rewrite(module, _Grows())
    assert sum(isinstance(op, arith.ConstantOp) for op in module.walk()) == 2
