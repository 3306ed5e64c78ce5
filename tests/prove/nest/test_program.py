"""Terms of programs, schedules and circuits agree where they must, and only there."""

import z3
from tests.prove.nest.programs import PRODUCT, STENCIL, made

from axiloom.hw.nest.circuit import Constant
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


LARGE = """#include <stdint.h>
void large(int32_t a[2], int32_t b[2])
{
  int64_t t[2];
  for (int i = 0; i < 2; i++)
    t[i] = i - 1;
  for (int k = 0; k < 2; k++)
    b[k] = (t[k] + (a[k] > 0 ? (int64_t)-2 : (int64_t)0x4000000000000000)) > 0 ? 5 : 6;
}
"""


def test_constants_of_all_64_bits_are_no_terms() -> None:
    """Literals below 0 and of 1 << 62, and a value below 0 in a memory."""
    source, _, device = made(LARGE, 2)
    constants = {
        node.value for pipe in device.circuit.pipes for node in pipe.nodes if isinstance(node, Constant)
    }
    assert {2**64 - 2, 1 << 62} <= constants
    for meaning in (Meaning.EXACT, Meaning.OPAQUE):
        circuit.run(device.circuit, device.packets[0], meaning)
    _, sent = circuit.run(device.circuit, device.packets[0], Meaning.EXACT)
    wanted = program.of_program(source)
    pairs = [
        (one, wanted[one], term)
        for lanes, beat in zip(circuit.beats(device.packets[1]), sent, strict=True)
        for one, term in zip(lanes, beat, strict=True)
        if one is not None
    ]
    assert equal(pairs, 20)[0] is Answer.HOLDS
    one, _, first = pairs[0]
    positive = z3.BitVec("a[0]", 32) > 0
    right = z3.If(positive, z3.BitVecVal(6, 32), z3.BitVecVal(5, 32))
    wrong = z3.If(positive, z3.BitVecVal(5, 32), z3.BitVecVal(6, 32))
    assert equal([(one, first, right)], 20)[0] is Answer.HOLDS
    assert equal([(one, first, wrong)], 20)[0] is Answer.VIOLATED
