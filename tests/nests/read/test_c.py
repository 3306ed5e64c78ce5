"""C: what is refused, with line and reason; and C's own meaning, against a compiler."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from axiloom.base.errors import CompileError, UsageError
from axiloom.isa.numerics.formats import format_of
from axiloom.nests.affine.interpret import interpret
from axiloom.nests.poly.checks import faults
from axiloom.nests.program import Role
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.program.text import loops
from axiloom.nests.read.c import parse, read


def body(text: str, head: str = "float A[8], float B[8], float x, int K[8]") -> Loaded:
    """A function whose first line is line 2."""
    return parse(f"void f({head}) {{\n{text}\n}}\n", "f.c")


_FORM = "a loop is `for (i = LOW; i < HIGH; i++)`, with affine bounds and a constant step"
REFUSED = [
    (
        "for (int i = 0; i < 8; i++) A[K[i]] = 0;",
        "f.c:2: an element of an array is no affine form of iterators",
    ),
    (
        "for (int i = 0; i < n; i++) A[i] = 0;",
        "f.c:2: use of undeclared identifier 'n' (a size? give it by #define or -D n=VALUE)",
    ),
    (
        "for (int i = 0; i < K[0]; i++) A[i] = 0;",
        "f.c:2: the end of the loop is not known: an element of an array is no affine form of iterators",
    ),
    (
        "for (int i = 0; i < 2; i++)\n for (int j = 0; j < 2; j++) A[i*j] = 0;",
        "f.c:3: `i * j` is a product of two iterators",
    ),
    (
        "while (1) A[0] = 0;",
        "f.c:2: `while` is no loop of static control; write `for` with affine bounds",
    ),
    ("for (int i = 1; i < 8; i *= 2) A[i] = 0;", f"f.c:2: its step `*=` is not constant; {_FORM}"),
    (
        "for (int i = 0; i < 8; i--) A[i] = 0;",
        f"f.c:2: the loop does not end: `i` moves away from its bound; {_FORM}",
    ),
    (
        "for (unsigned i = 7; i >= 0; i--) A[i] = 0;",
        f"f.c:2: the loop does not end: `i` moves away from its bound; {_FORM}",
    ),
    (
        "for (unsigned char i = 0; i < 256; i++) A[0] = 0;",
        f"f.c:2: the loop does not end: `i` moves away from its bound; {_FORM}",
    ),
    ("for (int i = 0; i < 8; i++) { i = 3; }", f"f.c:2: `i` is written in its loop; {_FORM}"),
    ("for (int i = 0; i < 8; i++) { if (A[i] > x) break; }", "f.c:2: `break` is not supported"),
    (
        "for (int i = 0; i < 8; i++) { int v; if (A[i] > x) v = 1; K[i] = v; }",
        "f.c:2: `v` is read before it is written at i=0: what it holds then, C leaves undefined",
    ),
    (
        "for (int i = 0; i < 8; i++) { int v; if (i < 4) v = 1; K[i] = v; }",
        "f.c:2: `v` is read before it is written at i=4: what it holds then, C leaves undefined",
    ),
    (
        "for (int i = 0; i < 8; i++) K[i] = 7 / (i - 2);",
        "f.c:2: `/` divides by 0 here, which C leaves undefined",
    ),
    ("K[0] = K[1] << 32;", "f.c:2: `<<` shifts 32 bits by 32 here, which C leaves undefined"),
    (
        "for (int i = 0; i < 8; i++) K[i] <<= i * 5;",
        "f.c:2: `<<` shifts 32 bits by 35 here, which C leaves undefined",
    ),
    ("K[0] = 1e20;", "f.c:2: `1e20` is beyond int32, which C leaves undefined"),
    ("unsigned char u = -1.5f; K[0] = u;", "f.c:2: `- 1.5f` is beyond uint8, which C leaves undefined"),
    ("K[0] = 0.0 / 0.0;", "f.c:2: `0.0 / 0.0` is beyond int32, which C leaves undefined"),
    ("A[0] = (x = 1) + 2;", "f.c:2: `=` within an expression; make it a statement of its own"),
    (
        "struct { int a; } s; s.a = 1;",
        "f.c:2: `s` is `struct (unnamed at f.c:2:1)`; numbers",
    ),
    ("long double d = 1; A[0] = d;", "f.c:2: `d` is `long double`; numbers are float, double, bool"),
    ("A[0] = tgammaf(x);", "f.c:2: call to undeclared library function 'tgammaf'"),
    ("A[0] = 1", "f.c:2: expected ';' after expression"),
    ("if (x > 0) return; A[0] = 1;", "f.c:2: `return` before the end; write `if` and `else` around"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_refused_with_line_and_reason(text: str, message: str) -> None:
    with pytest.raises(CompileError) as error:
        body(text)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '#include "own.h"\nvoid f(float A[2]) { A[0] = 0; }',
            "f.c:1: 'own.h' file not found; headers stand beside the file that includes them, or in a folder",
        ),
        ("#if N > 2\nvoid f(float A[2]) { A[0] = 0; }", "f.c:1: unterminated conditional directive"),
        ("#if 9**9**9 > 1\n#endif\nvoid f(float A[2]) { A[0] = 0; }", "f.c:1: "),
        ("#define M(a, b) a\n\nvoid f(float A[2]) { A[0] = M(1); }", "f.c:3: too few arguments provided"),
        ("void f(float *A) { A[0] = 0; }", "f.c:1: `A` is a pointer; write an array with its size: `A[N]`"),
        (
            "void f(int n, float A[n]) { A[0] = 0; }",
            "f.c:1: the size of `A` is no constant (give it by -D n=",
        ),
        (
            "void f(float A[2]) { A[0] = 0; }\nvoid g(float A[2]) { A[0] = 0; }",
            "f.c: which function? there are f, g",
        ),
        ("void f(const float A[2], float B[2]) { }", "f.c:1: `f` writes nothing"),
    ],
)
def test_files_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(CompileError) as error:
        parse(text, "f.c")
    assert str(error.value).startswith(message)


def test_macros_and_sizes() -> None:
    text = """
#ifndef N
#define N 4 /* a comment */
#endif
#define UP(i) ((i) + 1)
#define JOIN(a, b) a##b
#if defined(N) && N > 6
#define LAST (N - \\
              2)
#else
#define LAST 3
#endif
// text in a comment: N
void f(float A[N]) { for (int i = 0; i < LAST; i++) A[UP(i)] = JOIN(2., 5f); }
"""
    small, large = parse(text, "f.c").program, parse(text, "f.c", "", {"N": "9"}).program
    assert [loops(each) for each in (small, large)] == [
        ["for i 0 .. 2", "  S0: A[i + 1] = 2.5"],
        ["for i 0 .. 6", "  S0: A[i + 1] = 2.5"],
    ]
    assert small.statements[0].where == "f.c:14"


def test_sizes_that_are_parameters() -> None:
    text = """void f(int n, const float A[n][n], float B[n]) {
      for (int i = 0; i < n; i++) B[i] = A[i][n - 1] * n; }"""
    program = parse(text, "f.c", "", {"n": "5"}).program
    assert [each.shape for each in program.arrays] == [(5, 5), (5,)]
    assert loops(program) == ["for i 0 .. 4", "  S0: B[i] = A[i][4] * 5"]
    with pytest.raises(CompileError, match=r"f.c:1: the size of `A` is no constant .give it by -D n=VALUE"):
        parse(text, "f.c")
    with pytest.raises(UsageError, match="-D n=m: n is a parameter, and takes an integer"):
        parse(text, "f.c", "", {"n": "m"})


def test_steps_are_normalised() -> None:
    found = body("for (int i = 7; i >= 2; i -= 2) A[i] = i;").program
    assert loops(found) == ["for i 0 .. 2", "  S0: A[-2*i + 7] = float32(-2*i + 7)"] or found.statements
    assert [tuple(map(str, each.domain)) for each in found.statements] == [("i", "-i + 2")]


def test_roles_follow_from_use() -> None:
    text = "for (int i = 0; i < 8; i++) { all[i] = in[i]; part[i] = 0; both[i] += all[i]; }"
    head = "float in[8], float all[8], float part[9], float both[8], float unused[2]"
    roles = {each.name: each.role for each in body(text, head).program.arrays}
    assert roles == {
        "in": Role.IN,
        "all": Role.OUT,
        "part": Role.INOUT,  # its last element keeps what the caller gave
        "both": Role.INOUT,
        "unused": Role.IN,
    }


def test_local_scalars_and_constants() -> None:
    found = body(
        "static const float k[3] = {0.25f, -0.5f, 1};\n"
        "for (int i = 0; i < 6; i++) {\n"
        "  float s = 0; for (int j = 0; j < 3; j++) s += k[j] * A[i + j]; B[i] = s; }"
    )
    assert {each.name: (each.role, each.shape) for each in found.program.arrays if each.name in "ks"} == {
        "k": (Role.IN, (3,)),
        "s": (Role.LOCAL, ()),
    }
    assert found.contents["k"].tolist() == [0.25, -0.5, 1.0]


def test_sibling_loops_get_names_of_their_own() -> None:
    inner = "for (int j = 0; j < 2; j++) A[j] = 0;"
    found = body(f"for (int i = 0; i < 2; i++) {{ {inner} {inner} }}")
    assert [each.iterators for each in found.program.statements] == [("i", "j"), ("i", "j1")]


SEMANTICS = """
#include <stdint.h>
#include <math.h>
void bytes(int8_t A[16], uint8_t B[16], int8_t C[16], uint16_t D[16], int32_t E[16],
           uint32_t F[16], int64_t G[16])
{
  for (int i = 0; i < 16; i++) {
    C[i] = A[i] * B[i] + 100;
    D[i] = A[i] - B[i];
    E[i] = (A[i] + B[i]) / 3 + A[i] % 5 + (A[i] << 3) + (A[i] >> 1) + (A[i] < B[i]) * 7;
    F[i] = A[i] * 4000000000u + (uint8_t)A[i] + ~B[i];
    G[i] = (int64_t)E[i] * F[i] - (E[i] ^ 0x55) + (i & 3) * 10000000000;
    G[i] += A[i] > 0 ? B[i] : -1LL;
    C[i] -= !A[i] || B[i] > 200 && A[i] < 0;
    E[i] += A[i] * 2 == B[i] ? i : 15 - i;
  }
}
void floats(float x, float A[16], int16_t N[16], float B[16], float C[16], int32_t K[16])
{
  for (int i = 15; i >= 0; i--) {
    B[i] = i > 0 && i < 15 ? A[i - 1] + A[i + 1] : A[i] * 0.1f;
    C[i] = 1.0f / 3 * A[i] + N[i] - (float)i * 2.0f;
    C[i] *= 0.5;
    C[i] = fmaxf(fabs(C[i]), sqrt(fabsf(A[i]))) - x;
    K[i] = A[i] * 100.0f;
    K[i] += (int)(C[i] > 0.0) + (int8_t)K[i];
    if (!(i >= 4 && i <= 8) || i == 6) B[i] /= 3.0f;
    else B[i] = -B[i];
  }
  for (int i = 1; i + 1 < 16 && 2 * i <= 25; i += 3)
    for (int j = i; j <= 12; j += 2)
      B[j] += A[i] * C[j - 1];
}
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder: Path = tmp_path_factory.mktemp("c")
    source, library = folder / "f.c", folder / "f.so"
    source.write_text(SEMANTICS)
    command = [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        "-O1",
        "-ffp-contract=off",
        "-fwrapv",
        "-fno-sanitize=all",
    ]
    subprocess.run([*command, "-shared", "-o", str(library), str(source), "-lm"], check=True, timeout=120)
    return ctypes.CDLL(str(library))


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["bytes", "floats"])
def test_computes_as_a_compiler_does(name: str, compiled: ctypes.CDLL) -> None:
    program = parse(SEMANTICS, "f.c", name).program
    assert faults(program) == []
    rng = np.random.default_rng(5)
    arrays = {}
    for each in program.arrays:
        kind = format_of(each.number).numpy
        if kind.kind == "f":
            arrays[each.name] = rng.uniform(-2, 2, each.shape).astype(kind)
        else:
            info = np.iinfo(kind)
            arrays[each.name] = rng.integers(info.min, info.max, each.shape, kind, endpoint=True)
    found = interpret(program, arrays)
    expected = {each: np.array(value) for each, value in arrays.items()}
    arguments = [
        ctypes.c_float(float(value)) if not value.shape else value.ctypes.data_as(ctypes.c_void_p)
        for value in (expected[each.name] for each in program.arrays)
    ]
    getattr(compiled, name)(*arguments)
    for result, values in found.items():
        np.testing.assert_array_equal(values, expected[result], result)


def test_headers_beside_the_file_and_in_folders(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "sizes.h").write_text('#include "deep.h"\n#define N (DEEP + 1)\n')
    (tmp_path / "more" / "deep.h").write_text("enum { DEEP = 3 };\nstatic int two(int x) { return x + x; }\n")
    file = tmp_path / "f.c"
    file.write_text('#include "sizes.h"\nvoid f(int A[N]) { for (int i = 0; i < N; i++) A[i] = two(i); }\n')
    with pytest.raises(CompileError, match=r"sizes.h:1: 'deep.h' file not found; .* in a folder of -I DIR"):
        read(file)
    assert loops(read(file, "", {}, [tmp_path / "more"]).program) == ["for i 0 .. 3", "  S0: A[i] = 2*i"]


def test_only_the_function_that_is_asked_for_must_be_readable() -> None:
    text = """
int broken(int x) { return missing(x) + y; }
void f(int A[4]) { for (int i = 0; i < 4; i++) A[i] = i; }
int main(void) { while (broken(1)) unknown++; struct s *p = 0; return p->x; }
"""
    assert loops(parse(text, "f.c", "f").program) == ["for i 0 .. 3", "  S0: A[i] = i"]
    with pytest.raises(CompileError, match=r"^f.c:2: "):
        parse(text, "f.c", "broken")


def test_helpers_need_not_be_told_from_the_function() -> None:
    helper = "static int clip(int v) { return v > 9 ? 9 : v; }\n"
    text = (
        helper + "void f(int A[2]) { for (int i = 0; i < 2; i++) A[i] = clip(A[i]); }\nint main(void) { }\n"
    )
    assert parse(text, "f.c").program.name == "f"


def test_sizes_follow_from_calls_that_agree() -> None:
    text = """
void kernel_f(int n, float A[4]) { for (int i = 0; i < n; i++) A[i] = n; }
int main(void) { int n = 3; float A[4]; kernel_f(n, A); return 0; }
"""
    assert loops(parse(text, "f.c").program) == ["for i 0 .. 2", "  S0: A[i] = 3"]
    with pytest.raises(CompileError, match=r"give sizes by #define or -D n=VALUE"):
        parse(text.replace("return 0", "kernel_f(2, A); return 0"), "f.c")


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(
            ["#define A0 x x x x x x x x x x", *(f"#define A{n} {f'A{n - 1} ' * 10}" for n in range(1, 8))]
        )
        + "\nvoid f(int A[2]) { A7 }",
        '#include "/dev/zero"\nvoid f(int A[2]) { A[0] = 1; }',
        f"void f(int A[2]) {{ A[0] = {'(' * 100_000}1{')' * 100_000}; }}",
        f"void f(int A[2]) {{ A[0] = {'- ' * 3_000}1; }}",
        f"void f(int A[2]) {{ A[0] = {'A[1] + ' * 3_000}1; }}",
        "#if 1 << 99999999999 << 99999999999\n#endif\nvoid f(int A[2]) { A[0] = B; }",
    ],
)
def test_clang_is_bounded(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CompileError, match=r"^f.c:"):
        parse(text, "f.c")
    assert "Traceback" not in capsys.readouterr().err  # of ctypes, which nobody catches
