"""``python -m axiloom.selection.rules.prove.process``: proofs in a process that can be killed.

In, on standard input, one pickle after the other: (place, text, rule's name, seconds). Out: `Proof`. Both
ends are the same program of the same user.
"""

from __future__ import annotations

import pickle
import select
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType

from axiloom.selection.rules.library import RuleText
from axiloom.selection.rules.prove.verdicts import Answer, Proof, judge
from axiloom.selection.rules.rule import Rule
from axiloom.selection.rules.text import parse

GRACE_S = 10.0
"""Beyond the limit: a prover looks at its clock between cases."""


@dataclass
class Prover:
    """A running process, started when it is first asked; a new one after it was killed."""

    running: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Prover:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.stop()

    def ask(self, text: RuleText, rule: Rule, limit_s: float) -> Proof:
        """What is known after at most `limit_s` and a grace."""
        begun = time.monotonic()
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        why = "the prover ended by itself; it may have run out of memory"
        try:
            pickle.dump((text.place, text.text, rule.name, limit_s), process.stdin)
            process.stdin.flush()
            if select.select([process.stdout], [], [], limit_s + GRACE_S)[0]:
                proof = pickle.load(process.stdout)
                assert isinstance(proof, Proof)
                return proof
            why = f"no answer after {limit_s:g} s"
        except (BrokenPipeError, EOFError, pickle.UnpicklingError):
            pass
        except BaseException:
            self.stop()
            raise
        self.stop()
        seconds = time.monotonic() - begun
        return Proof(rule.name, rule.place, rule.sense, Answer.OPEN, "", False, why, 0, 0, seconds, limit_s)

    def _started(self) -> subprocess.Popen[bytes]:
        if self.running is None or self.running.poll() is not None:
            program = [sys.executable, "-m", "axiloom.selection.rules.prove.process"]
            self.running = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self.running

    def stop(self) -> None:
        if self.running is not None:
            self.running.kill()
            self.running.wait()
            for pipe in (self.running.stdin, self.running.stdout):
                if pipe is not None:
                    pipe.close()
            self.running = None


@lru_cache(maxsize=8)
def _rules(place: str, text: str) -> dict[str, Rule]:
    return {one.name: one for one in parse(text, place)}


def main() -> None:
    # The channel must carry nothing else: what a library prints goes to the errors.
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    while True:
        try:
            place, text, name, limit_s = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(judge(_rules(place, text)[name], limit_s), out)
        out.flush()


if __name__ == "__main__":
    main()
