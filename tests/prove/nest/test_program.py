"""Terms of programs, schedules and circuits agree where they must, and only there."""

import z3
from tests.prove.nest.programs import PRODUCT, STENCIL, made

from axiloom.prove.nest import circuit, program
from axiloom.prove.nest.terms import Meaning
from axiloom.prove.nest.verdicts import equal
from axiloom.prove.verdict import Answer

SUM = """
void total(TYPE a[N], TYPE s[1])
{
  s[0] = 0;
  for (int i = 0; i < N; i++)
    s[0] += a[i];
}
"""

NARROW = """
void mixed(short a[N], short b[N], short c[N])
{
  for (int i = 0; i < N; i++)
    c[i] = (a[i] * b[i] + 3 * a[i]) >> 1;
}
"""


def _claim(text: str, n: int, schedule: str = "", meaning: Meaning = Meaning.EXACT) -> Answer:
    source, by, _ = made(text, n, schedule)
    written, scheduled = program.of_program(source, meaning), program.of_schedule(by, meaning)
    return equal([(one, term, scheduled[one]) for one, term in written.items()], 20)[0]


def test_a_schedule_computes_what_its_program_does() -> None:
    assert _claim(PRODUCT, 3, "fission S1 i\nreorder S1 j i\n") is Answer.HOLDS
    assert _claim(STENCIL, 5, "reuse A S0 i\n") is Answer.HOLDS


def test_integers_may_be_summed_in_another_order_and_floats_only_as_real_numbers() -> None:
    turns = "reassociate S1 i 2"
    assert _claim(SUM.replace("TYPE", "int"), 4, turns) is Answer.HOLDS
    changed = f"{turns} rounding=changes"
    assert _claim(SUM.replace("TYPE", "float"), 4, changed) is Answer.VIOLATED
    assert _claim(SUM.replace("TYPE", "float"), 4, changed, Meaning.REAL) is Answer.HOLDS


def test_what_a_circuit_narrows_is_what_was_written() -> None:
    """C computes `short` as int; the circuit takes fewer bits. A solver says that it makes no difference."""
    source, _, device = made(NARROW, 2)
    wanted = program.of_program(source)
    _, sent = circuit.run(device.circuit, device.packets[0], Meaning.EXACT)
    pairs = [
        (one, wanted[one], term)
        for lanes, beat in zip(circuit.beats(device.packets[1]), sent, strict=True)
        for one, term in zip(lanes, beat, strict=True)
        if one is not None
    ]
    assert len(pairs) == 2
    assert equal(pairs, 60)[0] is Answer.HOLDS
    one, term, _ = pairs[0]
    assert equal([(one, term, term + z3.BitVecVal(1, 16))], 20)[0] is Answer.VIOLATED
