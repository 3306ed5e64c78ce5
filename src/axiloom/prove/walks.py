"""States that a circuit is in, for guesses: it is walked from the start, to values that were not yet seen.

Random inputs do not start a device that waits for a few words of a host. So a solver is asked for inputs with
which some register gets a new value, from a state that was reached before, and is left with random ones.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

from axiloom.prove import certify
from axiloom.prove.steps import Circuit, Samples, Steps

AHEAD = (1, 2, 4, 8, 12)
"""Cycles in which a new value is looked for."""
STROLL = 24
"""Cycles with random inputs from each state that was sought, and from where these end."""
OFTEN = 0.0, 0.1, 0.5, 0.9
"""How often an input is high on a stroll, each with its own."""
STARTS = 60
"""States from which new values are looked for, at most."""


class Walks:
    """Parameters
    ----------
    kept : the register that says that all assumptions have held, a literal
    goals : literals over registers, each of which shall be high once
    """

    def __init__(self, circuit: Circuit, samples: Samples, kept: int, goals: Sequence[int]) -> None:
        self._circuit, self._samples, self._kept = circuit, samples, kept
        self._goals = list(goals)
        self._random = random.Random(0)
        self._starts: list[list[bool]] = []
        self._often: list[float] = []
        first = 2 * (circuit.cone.inputs + 1)
        self._latches = [first + 2 * i for i in range(len(circuit.cone.latches))]

    def run(self, seconds: float) -> None:
        end = time.thread_time() + seconds
        with Steps(self._circuit) as steps:
            for cycle in range(1, AHEAD[-1] + 1):
                for latch in self._latches:
                    steps.literal(latch, cycle)
            self._starts = [self._first()]
            self._stroll(steps, self._starts[0])
            at = 0
            while at < len(self._starts) < STARTS and time.thread_time() < end:
                if not self._seek(steps, self._starts[at], end):
                    at += 1

    def _first(self) -> list[bool]:
        """What may be held behind the first cycle."""
        cone = self._circuit.cone
        with certify.Cycles(cone, begins=True) as run:
            run.cycle()
            kept = self._circuit.behind(run)(self._kept)
            picked = [self._random.choice((1, -1)) * name for name in run.inputs]
            while (model := run.model([kept, *picked])) is None:
                core = run.core()
                picked = [name for name in picked if name not in core]
            first = [model(name) for name in run.held]
        self._samples.add([*[False] * cone.inputs, *first])
        return first

    def _seek(self, steps: Steps, start: Sequence[bool], end: float) -> bool:
        """Whether a goal was reached that was not before."""
        self._goals = [goal for goal in self._goals if not self._samples.of(goal)]
        here = self._held(steps, start)
        for ahead in AHEAD:
            if time.thread_time() > end or not self._goals:
                return False
            active = steps.new()
            steps.clause([-active, *(steps.literal(goal, ahead) for goal in self._goals)])
            if not self._can(steps, [*here, active], ahead):
                continue
            frames = [steps.columns(cycle) for cycle in range(ahead + 1)]
            for columns in frames[:-1]:
                self._samples.add(columns)
            reached = frames[-1][self._circuit.cone.inputs :]
            self._starts += [reached, self._stroll(steps, reached)]
            return True
        return False

    def _held(self, steps: Steps, state: Sequence[bool]) -> list[int]:
        names = map(steps.literal, self._latches)
        return [name if value else -name for name, value in zip(names, state, strict=True)]

    def _can(self, steps: Steps, asked: Sequence[int], ahead: int) -> bool:
        """Inputs are random where these, and what is assumed of the cycles before, let them be."""
        asked = [*asked, steps.literal(self._kept, ahead)]
        try:
            if not steps.can(asked):
                return False
            inputs = [2 * (1 + i) for i in range(self._circuit.cone.inputs)]
            names = [steps.literal(literal, cycle) for cycle in range(ahead) for literal in inputs]
            picked = [
                name if self._random.random() < often else -name
                for name, often in zip(names, self._often * ahead, strict=True)
            ]
            while not steps.can([*asked, *picked]):
                core = steps.core()
                picked = [name for name in picked if name not in core]
        except TimeoutError:
            return False
        return True

    def _stroll(self, steps: Steps, state: list[bool]) -> list[bool]:
        """Where it ends."""
        self._often = self._random.choices(OFTEN, k=self._circuit.cone.inputs)
        for _ in range(STROLL):
            if not self._can(steps, self._held(steps, state), 1):
                break
            self._samples.add(steps.columns())
            state = steps.state(1)
        return state
