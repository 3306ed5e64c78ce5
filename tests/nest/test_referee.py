"""The original text of C as the judge: what was misread, and what C leaves open, shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from axiloom.base.errors import CompileError, HangError, MismatchError
from axiloom.nest import referee
from axiloom.nest.referee import Referee
from axiloom.nest.reference import Reference, reference
from axiloom.nest.values import random_values
from axiloom.nests.program import Array, Op, Role
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.read.c import read
from axiloom.nests.schedule import Schedule

TEXT = """#include <stdint.h>
#include "size.h"
int moves[N];
static int unused(int x) { return elsewhere(x); }
void f(const int8_t A[N][3], short s, int n, int B[N])
{
    for (int i = 0; i < n; i++) {
        B[i] = A[i][1] * s;
        moves[i] += 2;
    }
}
"""


@pytest.fixture
def loaded(tmp_path: Path) -> Loaded:
    return written(tmp_path, TEXT, {"N": "4", "n": "4"})


def written(folder: Path, text: str, defines: dict[str, str]) -> Loaded:
    (folder / "size.h").write_text("int elsewhere(int);\n")
    path = folder / 'a "b" $c.c'
    path.write_text(text)
    return read(path, "f", defines)


def judged(loaded: Loaded) -> Reference:
    values = {**random_values(loaded.program, 0), **loaded.contents}
    return reference(loaded, Schedule.of(loaded.program), values)


def test_the_file_is_called_as_it_was_read(loaded: Loaded) -> None:
    values = random_values(loaded.program, 0)
    right = judged(loaded)
    product = values["A"][:, 1].astype(np.int32) * int(values["s"])
    assert np.array_equal(right.results["B"], product)
    assert np.array_equal(right.results["moves"], values["moves"] + 2)
    assert "compiled by" in right.text
    assert "-O0 -fwrapv -ffp-contract=off" in right.text
    assert right.warnings == ()


def test_another_value_is_named(loaded: Loaded) -> None:
    """A planted misreading: the product is a sum."""
    first, *rest = loaded.program.statements
    assert isinstance(first.value, Op)
    wrong = replace(first, value=replace(first.value, name="add"))
    bent = replace(loaded, program=replace(loaded.program, statements=(wrong, *rest)))
    with pytest.raises(MismatchError, match=r"as read, B\[0\] is -?\d+, expected -?\d+ by a "):
        judged(bent)


def test_an_argument_that_c_writes_is_named(loaded: Loaded) -> None:
    """`moves` as one that is only read, and never written."""
    arrays = tuple(
        replace(each, role=Role.IN if each.name == "moves" else each.role) for each in loaded.program.arrays
    )
    program = replace(loaded.program, arrays=arrays, statements=loaded.program.statements[:1])
    with pytest.raises(MismatchError, match=r"moves\[0\] is"):
        judged(replace(loaded, program=program))


def test_other_types_and_shapes_do_not_compile(loaded: Loaded) -> None:
    assert loaded.function is not None
    A, s, n, B = loaded.function.parameters
    for parameters, array in (
        ((replace(A, type="short"), s, n, B), Array("A", (4, 3), "int16", Role.IN)),
        ((replace(A, type="uint8_t"), s, n, B), Array("A", (4, 3), "uint8", Role.IN)),
        ((replace(A, shape=(3, 4)), s, n, B), Array("A", (3, 4), "int8", Role.IN)),
        ((A, s, n, B), Array("A", (4, 3), "int16", Role.IN)),
        ((A, B, s, n), loaded.program.array("A")),
    ):
        arrays = tuple(array if each.name == "A" else each for each in loaded.program.arrays)
        program = replace(loaded.program, arrays=arrays)
        bent = Loaded(program, {}, replace(loaded.function, parameters=parameters))
        with pytest.raises(MismatchError, match="other types than were read"):
            judged(bent)


def test_an_array_that_was_read_too_small_is_named(loaded: Loaded) -> None:
    assert loaded.function is not None
    A, s, n, B = loaded.function.parameters
    program = loaded.program
    arrays = tuple(replace(each, shape=(3,)) if each.name == "B" else each for each in program.arrays)
    function = replace(loaded.function, parameters=(A, s, n, replace(B, shape=(3,))))
    with pytest.raises(MismatchError, match="an access outside of B"):
        judged(Loaded(replace(program, arrays=arrays), {}, function))


def test_a_state_shows_in_the_second_call(loaded: Loaded) -> None:
    """C keeps it, what was read does not."""
    assert loaded.function is not None
    kept = TEXT.replace("A[i][1] * s", "A[i][1] * s + calls").replace(
        "{\n    for", "{\n    static int calls = -1;\n    calls++;\n    for"
    )
    loaded.function.path.write_text(kept)
    with pytest.raises(MismatchError, match=r"after call 2, on the same inputs, B\[0\]"):
        judged(loaded)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("n / 3 << 30", None),
        ("2147483647 + n", "signed integer overflow"),
    ],
)
def test_that_integers_wrap_is_said(loaded: Loaded, value: str, why: str | None) -> None:
    warnings = with_value(loaded, value).warnings
    assert (len(warnings) == 1 and why in warnings[0]) if why else warnings == ()


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("1 << (n + 30)", "shift exponent 34"),
        ("A[0][n - 1]", "index 3 out of bounds"),
        ("(int)(n * 1e20f)", "4e\\+20 is outside the range"),
        ("(unsigned char)(n * -1.0f)", "-4 is outside the range"),
    ],
)
def test_what_c_leaves_undefined_is_no_result(loaded: Loaded, value: str, why: str) -> None:
    """Though what was read gives the same here."""
    with pytest.raises(MismatchError, match=rf"c.c:\d+: C leaves it undefined: {why}.*; no result is right"):
        with_value(loaded, value)


def with_value(loaded: Loaded, value: str) -> Reference:
    """Of a file that computes it beside what was read."""
    assert loaded.function is not None
    loaded.function.path.write_text(
        TEXT.replace("}\n}", f"}}\nint v = {value}; if (v == 12345) B[0] = 0;\n}}")
    )
    return judged(loaded)


def test_a_compiler_without_sanitizers_is_named(loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(referee, "_SANITIZER", ("-fsanitize=none-that-is-known",))
    assert "was not looked for" in judged(loaded).text
    assert with_value(loaded, "1 << (n + 30)").warnings == ()


def test_a_local_that_was_never_written_shows(loaded: Loaded) -> None:
    assert loaded.function is not None
    loaded.function.path.write_text(TEXT.replace("}\n}", "}\nint x; B[0] += x;\n}"))
    with pytest.raises(MismatchError, match="a local that was never written"):
        judged(loaded)


def test_bits_of_nan_are_no_local(tmp_path: Path) -> None:
    """With sanitizers the compiler takes the operands of the product in another order."""
    text = '#include "size.h"\nvoid f(float F[8]) { for (int i = 0; i < 8; i++) F[i] = F[i] * -F[i]; }'
    loaded = written(tmp_path, text, {})
    values = {"F": np.full(8, np.nan, np.float32)}
    assert reference(loaded, Schedule.of(loaded.program), values).warnings == ()


def test_headers_of_folders_are_the_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder beside the user, and the reader's own stand-in for polybench.h."""
    monkeypatch.chdir(tmp_path)
    Path("headers").mkdir()
    Path("headers/size.h").write_text("#define N 3\n")
    path = tmp_path / "f.c"
    path.write_text('#include "size.h"\n#include <polybench.h>\nvoid f(int A[N]) { A[N - 1] = N; }')
    loaded = read(path, "f", {}, [Path("headers")])
    assert judged(loaded).results["A"][2] == 3


def test_exp_is_the_circuits(tmp_path: Path) -> None:
    text = '#include "size.h"\n#include <math.h>\n'
    text += "void f(float A[9]) { for (int i = 0; i < 9; i++) A[i] = expf(A[i]) * 3.0f; }"
    right = judged(written(tmp_path, text, {}))
    assert "expf as in the circuit" in right.text
    assert "of floats a subnormal counts as zero, and one NaN is as good as another" in right.text


def test_a_file_that_is_no_c_is_not_called_wrong(loaded: Loaded) -> None:
    assert loaded.function is not None
    loaded.function.path.write_text(TEXT.replace("short s", "int12_t s"))
    with pytest.raises(CompileError, match=r"c.c: .* does not compile it: .*c.c:5:.*int12_t"):
        judged(loaded)


def test_calls_that_do_not_end(loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    assert loaded.function is not None
    monkeypatch.setattr(referee, "SECONDS", 1)
    loaded.function.path.write_text(TEXT.replace("i < n; i++", "i < n || B[0] + 1 > B[0]; i += 0"))
    with pytest.raises(HangError, match="2 calls do not end within 1 s"):
        judged(loaded)


def test_without_a_compiler_the_comparison_says_what_it_is(
    loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    assert Referee.of(loaded) is None
    text = judged(loaded).text
    assert text.startswith("the program as read, by the interpreter")
    assert "no C compiler" in text


def test_an_order_of_sums_of_its_own(tmp_path: Path) -> None:
    """The circuit is compared with that order, and the program as written with the file."""
    text = '#include "size.h"\nvoid f(float A[9], float s[1]) { for (int i = 0; i < 9; i++) s[0] += A[i]; }'
    loaded = written(tmp_path, text, {})
    schedule = Schedule.of(loaded.program)
    bent = replace(schedule, log=("reassociate S0 i 3 rounding=changes",))
    right = reference(loaded, bent, random_values(loaded.program, 0))
    assert "in the order of `reassociate`" in right.text
    assert "compiled by" in right.text
