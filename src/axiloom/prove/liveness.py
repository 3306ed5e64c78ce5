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
    builder = Builder(cone)
    owed, fair, couples = _fair(builder, pairs)
    now = list(fair)
    for number, (first, _) in enumerate(couples):
        guess, over = builder.input(f"{OVER}{number}"), builder.latch()
        is_over = builder.either(guess, over)
        builder.become(over, is_over)
        owed = builder.both(owed, builder.both(is_over, first) ^ 1)
        now.append(is_over)
    now += [builder.both(first, second) for first, second in couples]
    seen = [builder.latch() for _ in now]
    now = [builder.either(latch, value) for latch, value in zip(seen, now, strict=True)]
    others, overs, both = now[: len(fair)], now[len(fair) : -pairs or None], now[len(now) - pairs :]
    ends = builder.all([*others, *map(builder.either, overs, both)])
    for latch, value in zip(seen, now, strict=True):
        builder.become(latch, builder.all([owed, value, ends ^ 1]))
    before = 1
    for latch in [builder.latch() for _ in range(count - 1)]:  # the n-th: n rounds have ended
        builder.become(latch, builder.both(owed, builder.either(latch, builder.both(before, ends))))
        before = latch
    return builder.file(builder.all([owed, ends, before]))


def _fair(builder: Builder, pairs: int) -> tuple[int, list[int], list[tuple[int, int]]]:
    owed, *others = builder.outputs
    plain = len(others) - 2 * pairs
    couples = others[plain:]
    return owed, others[:plain], list(zip(couples[::2], couples[1::2], strict=True))


def loops(cone: Aiger, pairs: int = 0) -> Aiger:
    """High if the state is that of the cycle in which :data:`SAVES` was high, and the run between is fair."""
    builder = Builder(cone)
    owed, fair, couples = _fair(builder, pairs)
    saves, saved = builder.input(SAVES), builder.latch()
    begins = builder.both(saves, saved ^ 1)
    builder.become(saved, builder.either(saved, saves))
    same = [saved]
    for state in builder.states:
        held = builder.latch()
        builder.become(held, builder.choose(begins, state, held))
        same.append(builder.both(builder.both(held, state ^ 1) ^ 1, builder.both(held ^ 1, state) ^ 1))

    def since(value: int) -> int:
        """Was `value` high in a cycle since the loop began, the first one among them?"""
        was = builder.latch()
        here = builder.both(builder.either(begins, saved), value)
        builder.become(was, builder.either(here, builder.both(saved, was)))
        return was

    same += [since(value) for value in fair]
    same += [
        builder.either(since(first) ^ 1, since(builder.both(first, second))) for first, second in couples
    ]
    always = builder.latch()
    builder.become(always, builder.both(owed, builder.either(begins, always)))
    same.append(always)
    return builder.file(builder.all(same))
