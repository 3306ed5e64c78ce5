"""Local rewrites: patterns of xDSL, each tried once on every op of a module."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker, RewritePattern


def rewrite(module: ModuleOp, *patterns: RewritePattern) -> None:
    """Go through the ops in their order, and rewrite each with the first pattern that matches it.

    What a pattern makes is not looked at again, and nothing is dropped because nobody uses it. What a pattern
    raises comes out as it is; the walker adds the IR as a note.
    """
    every = GreedyRewritePatternApplier(list(patterns), dce_enabled=False)
    PatternRewriteWalker(every, apply_recursively=False).rewrite_module(module)
