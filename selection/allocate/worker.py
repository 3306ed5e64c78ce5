"""``python -m axiloom.selection.allocate.worker``: the solver's process.

In, on standard input, one pickle after the other: a question (:func:`process.ask`). Out: its answer. Both
ends are the same program of the same user.
"""

from __future__ import annotations

import pickle
import sys

from axiloom.selection.allocate import exact


def main() -> None:
    # The channel must carry nothing else: what a library prints goes to the errors.
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    while True:
        try:
            kind, *given = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(exact.solve(*given) if kind == "solve" else exact.place(*given), out)
        out.flush()


if __name__ == "__main__":
    main()
