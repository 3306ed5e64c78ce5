"""Streams of words that do not wait for the device to be at rest, to a bound."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import z3

from axiloom.prove.rtl.opcodes import trial
from axiloom.prove.rtl.opcodes.cases import Cases
from axiloom.prove.rtl.opcodes.claim import Case, GuessedWrongError, Outcome
from axiloom.prove.rtl.opcodes.command import UnknownError
from axiloom.prove.rtl.opcodes.explore import TooManyError

STREAMS, FEWEST_WORDS, MOST_WORDS, MOST_SENT, STREAM_S = 1, 4, 64, 24, 60


class Overlap(Cases):
    """The claim `overlap`."""

    def _overlap(self) -> None:
        """Streams of words from reset that do not wait for the device to be at rest."""
        text = (
            "words from reset that do not wait: one at once after the other, and taken whenever; or with any "
        )
        text += "gaps, and taken at once"
        outcome, begun = self._outcome("overlap", text), time.perf_counter()
        first = tuple(self.device.model.init[name] for name in self.device.control)
        sample = next(one for one in self.samples.at[first] if one.words == ())
        values = {f"rtl:{name}": sample.registers[name] for name in self.control}
        values |= {f"model:{name}": value for name, value in self._grouped(sample).model.items()}
        rest = self.rest(first)
        choice = {
            flag.name: z3.BitVecVal(
                sum(
                    (values[name] >> place & 1) << i for i, (name, place) in enumerate(rest.shown[flag.name])
                ),
                flag.bits,
            )
            for flag in rest.flags
        }
        # Each of the two with as many words as there is time for; the bound is the smaller.
        outcome.bound = MOST_WORDS
        for seed in range(STREAMS):
            stream = self._stream(random.Random(seed))
            for others in ({"gaps": False, "stalls": True}, {"gaps": True, "stalls": False}):
                count = reached = 0
                while count < len(stream) and outcome.holds:
                    count = min(max(FEWEST_WORDS, 2 * count), len(stream))
                    if not self._streamed(Case(first, None, choice=choice), stream[:count], outcome, others):
                        break
                    reached = count
                outcome.cases += 1
                outcome.bound = min(outcome.bound, reached)
        outcome.seconds = time.perf_counter() - begun

    def _streamed(
        self, case: Case, stream: Sequence[tuple[int, bool]], outcome: Outcome, others: Mapping[str, bool]
    ) -> bool:
        """Search what the device does with a stream, its data any; False: that would take too long."""
        registers, model = self.start(case)
        words: list[Any] = []
        after = model
        for number, (word, is_data) in enumerate(stream):
            words.append(z3.BitVec(f"data{number}", 32) if is_data else z3.BitVecVal(word, 32))
            enabled = [
                instruction
                for instruction in self.device.model.instructions
                if z3.is_true(self.commands.enabled(instruction, after, words[-1]))
            ]
            if len(enabled) != 1:
                return False
            after, _ = self.commands.execute(enabled[0], after, words[-1])
        control = self._after(after)
        try:
            self._searched(
                case, registers, words, after, control, outcome, deque(), **others, limit_s=STREAM_S
            )
        except (TooManyError, UnknownError, GuessedWrongError):
            return False
        return True

    def _stream(self, source: random.Random) -> list[tuple[int, bool]]:
        """Words that a driver may send, and which of them are data; as many as one search can go through."""
        run, sent = trial.another(self.simulator), 0
        found: list[tuple[int, bool]] = []
        while len(found) < MOST_WORDS and sent < MOST_SENT:
            word = trial.words(self.device, run, source, faults=0.0)
            fired = run.command(word=word)
            if run.state["error"]:
                break
            found.append((word, fired[0].endswith((".more", ".last"))))
            sent = run.state["n_sent"]
        return found
