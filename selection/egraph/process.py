"""The engine in a process of its own, kept warm between requests: egglog itself cannot be interrupted."""

from __future__ import annotations

import atexit
import pickle
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from axiloom.selection.egraph.flat import flat
from axiloom.selection.egraph.saturated import Limits, Saturated, SaturationError
from axiloom.selection.ir.graph import Graph
from axiloom.selection.rules import library
from axiloom.selection.rules.library import RuleText
from axiloom.selection.rules.prove.kept import usable

GRACE_S = 5.0
"""Beyond the limit: the engine looks at its clock between iterations."""
START_S = 60.0


@dataclass
class Worker:
    """A running engine; a new one is started when it was killed."""

    running: subprocess.Popen[bytes] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, request: tuple[Any, ...], seconds: float) -> Any:
        """Its answer. Raises SaturationError if it takes longer than that, or dies: then it is killed."""
        with self.lock:
            process = self._started()
            assert process.stdin is not None
            try:
                pickle.dump(request, process.stdin)
                process.stdin.flush()
                said = self._answer(process, seconds)
            except (BrokenPipeError, EOFError, pickle.UnpicklingError):
                self.stop()
                raise SaturationError(
                    "the engine of egraphs died; the graph may be too big for memory"
                ) from None
            except BaseException:
                self.stop()
                raise
        kind, value = said
        if kind == "fault":
            raise SaturationError(value)
        return value

    def _answer(self, process: subprocess.Popen[bytes], seconds: float) -> Any:
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], seconds)
        if not ready:
            raise SaturationError(f"saturation was killed after {seconds:g} s: one iteration took too long")
        return pickle.load(process.stdout)

    def _started(self) -> subprocess.Popen[bytes]:
        if self.running is None or self.running.poll() is not None:
            program = [sys.executable, "-m", "axiloom.selection.egraph.worker"]
            self.running = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self.running

    def stop(self) -> None:
        if self.running is not None:
            self.running.kill()
            self.running.wait()
            self.running = None


WORKER = Worker()
atexit.register(WORKER.stop)


def warm(rules: Sequence[RuleText]) -> float:
    """Starts the engine with these rules; the seconds that it took."""
    begun = time.perf_counter()
    WORKER.ask((_texts(rules), None, Limits()), START_S)
    return time.perf_counter() - begun


def saturate(
    graph: Graph, rules: Sequence[RuleText], limits: Limits | None = None, *, unproved: bool = False
) -> Saturated:
    """All that `rules` make of a graph. A limit that ends it is in `stopped`.

    A rule of a user's is proved first, one of ours when it is applied: should it not be decided, all is made
    again without it. `unproved`: as they are, for tests. Raises SaturationError, and RuleError for a rule
    that is wrong.
    """
    limits = limits or Limits()
    # Contents of constants stay here: no rule looks at them.
    plain = flat(Graph(graph.name, graph.parameters, graph.results))
    if unproved:
        return _made(plain, tuple(rules), limits)
    now = [
        one for text in rules for one in usable([text], () if (text.place, text.text) in _ours() else None)
    ]
    while True:
        found = _made(plain, tuple(now), limits)
        proved = [*usable(now, found.applied)]
        if proved == now:
            return found
        now = proved


@cache
def _ours() -> frozenset[tuple[str, str]]:
    """Place and text of the files that come with Axiloom."""
    return frozenset((one.place, one.text) for one in library.every())


def _made(graph: Any, rules: tuple[RuleText, ...], limits: Limits) -> Saturated:
    warm(rules)
    return _saturated(WORKER.ask((_texts(rules), graph, limits), limits.seconds + GRACE_S))


def _texts(rules: Sequence[RuleText]) -> tuple[Any, ...]:
    return tuple((one.place, one.text, one.names, one.bounded) for one in rules)


def _saturated(answer: Any) -> Saturated:
    assert isinstance(answer, Saturated)
    return answer
