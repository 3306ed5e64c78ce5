"""That something happens at last, as questions about single cycles.

Something is owed while an output is high. A run is fair if each of some other outputs is high again and
again. That no fair run owes something for ever is shown in two ways:

- rounds (k-liveness: Claessen, Soerensson, "A liveness checking algorithm that counts", FMCAD 2012): a round
  ends when each fair output was high in it. If nothing is owed through k rounds in a row, in any run, then
  nothing is owed for ever.
- loops (Biere, Artho, Schuppan, "Liveness checking as safety checking", 2002): a state that comes again, with
  something owed in all cycles between and each fair output high in one of them. That is a run for ever.
"""

from __future__ import annotations

from axiloom.prove.aiger import Aiger, Builder

OVER = "axiloom_over"
SAVES = "axiloom_saves"
"""The input of a question of loops that is high in the cycle in which the loop begins, for the first time."""


def rounds(cone: Aiger, count: int, pairs: int = 0) -> Aiger:
    """High if the first output of `cone` was high through `count` rounds; its others are what is fair.

    The last of them are `pairs`: the second of a pair is high with the first again and again, unless the
    first is not high any more. From when on is a new input's guess: runs in which it is wrong do not count.
    Before, a round ends only if both were high.
    """
    made = Builder(cone)
    owed, fair, couples = _fair(made, pairs)
    now = list(fair)
    for number, (first, _) in enumerate(couples):
        guess, over = made.input(f"{OVER}{number}"), made.latch()
        is_over = made.either(guess, over)
        made.become(over, is_over)
        owed = made.both(owed, made.both(is_over, first) ^ 1)
        now.append(is_over)
    now += [made.both(first, second) for first, second in couples]
    seen = [made.latch() for _ in now]
    now = [made.either(one, other) for one, other in zip(seen, now, strict=True)]
    others, overs, both = now[: len(fair)], now[len(fair) : -pairs or None], now[len(now) - pairs :]
    ends = made.all([*others, *map(made.either, overs, both)])
    for latch, value in zip(seen, now, strict=True):
        made.become(latch, made.all([owed, value, ends ^ 1]))
    before = 1
    for latch in [made.latch() for _ in range(count - 1)]:  # the n-th: n rounds have ended
        made.become(latch, made.both(owed, made.either(latch, made.both(before, ends))))
        before = latch
    return made.file(made.all([owed, ends, before]))


def _fair(made: Builder, pairs: int) -> tuple[int, list[int], list[tuple[int, int]]]:
    owed, *others = made.outputs
    plain = len(others) - 2 * pairs
    couples = others[plain:]
    return owed, others[:plain], list(zip(couples[::2], couples[1::2], strict=True))


def loops(cone: Aiger, pairs: int = 0) -> Aiger:
    """High if the state is that of the cycle in which :data:`SAVES` was high, and the run between is fair."""
    made = Builder(cone)
    owed, fair, couples = _fair(made, pairs)
    saves, saved = made.input(SAVES), made.latch()
    begins = made.both(saves, saved ^ 1)
    made.become(saved, made.either(saved, saves))
    same = [saved]
    for state in made.states:
        held = made.latch()
        made.become(held, made.choose(begins, state, held))
        same.append(made.both(made.both(held, state ^ 1) ^ 1, made.both(held ^ 1, state) ^ 1))

    def since(value: int) -> int:
        """Was `value` high in a cycle since the loop began, the first one among them?"""
        was = made.latch()
        here = made.both(made.either(begins, saved), value)
        made.become(was, made.either(here, made.both(saved, was)))
        return was

    same += [since(value) for value in fair]
    same += [made.either(since(first) ^ 1, since(made.both(first, second))) for first, second in couples]
    always = made.latch()
    made.become(always, made.both(owed, made.either(begins, always)))
    same.append(always)
    return made.file(made.all(same))
