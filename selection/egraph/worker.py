"""``python -m axiloom.selection.egraph.worker``: an engine that can be killed.

In, on standard input, one pickle after the other: (texts of rules, graph, limits), where a text is
(its place, the text, names of rules that may be used or None, names of those that are proved for the sizes
that they state alone). Out: ``("done", Saturated)`` or
``("fault", message)``. Both ends are the same program of the same user.
"""

from __future__ import annotations

import gc
import pickle
import sys
from functools import lru_cache

from axiloom.errors import AxiloomError
from axiloom.selection.egraph.engine import Engine
from axiloom.selection.egraph.flat import unflat
from axiloom.selection.rules.library import RuleText

Text = tuple[str, str, frozenset[str] | None, frozenset[str]]


@lru_cache(maxsize=8)
def engine_of(texts: tuple[Text, ...]) -> Engine:
    """One stays for each set of rules."""
    found = [rule for text in texts for rule in RuleText(*text).rules]
    engine = Engine(found)
    gc.freeze()  # the collector need not look through rules again with every graph
    return engine


def main() -> None:
    # The channel must carry nothing else: what a library prints goes to the errors.
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    while True:
        try:
            texts, rows, limits = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            engine = engine_of(texts)
            answer: tuple[str, object] = (
                ("ready", None) if rows is None else ("done", engine.saturate(unflat(rows), limits))
            )
        except AxiloomError as error:
            answer = ("fault", str(error))
        pickle.dump(answer, out)
        out.flush()


if __name__ == "__main__":
    sys.setrecursionlimit(1 << 20)
    main()
