"""Programs for tests, by hand and by hypothesis."""

from __future__ import annotations

import hypothesis.strategies as st

from axiloom.base.affine import Affine
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.program import Array, Expression, Index, Literal, Load, Op, Program, Role, Statement
from axiloom.nests.program.builder import Builder
from axiloom.nests.schedule import Schedule
from axiloom.nests.schedule.replay import replay

FORMATS = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "int12", "uint5"),
    *("fixed<8,4>", "fixed<16,8>", "fixed<16,0>", "fixed<32,16>", "fixed<12,5>", "float32"),
)


def name(iterator: str) -> Affine:
    return Affine.name(iterator)


def between(iterator: str, low: Affine | int, high: Affine | int) -> tuple[Affine, Affine]:
    """low <= iterator < high."""
    return name(iterator) - low, Affine.of(high) - name(iterator) - 1


def gemm(m: int = 4, n: int = 5, depth: int = 6, number: str = "float32") -> Program:
    """C = beta C + alpha A B, in PolyBench's order."""
    p = Builder("gemm")
    alpha, beta = p.input("alpha", (), number), p.input("beta", (), number)
    C, A, B = p.inout("C", (m, n), number), p.input("A", (m, depth), number), p.input("B", (depth, n), number)
    with p.loop("i", 0, m) as i:
        with p.loop("j", 0, n) as j:
            C.set((i, j), C[i, j] * beta, "S1")
        with p.loop("k", 0, depth) as k, p.loop("j", 0, n) as j:
            C.set((i, j), C[i, j] + alpha * A[i, k] * B[k, j], "S2")
    return p.program()


def trmm(m: int = 6, n: int = 5, number: str = "float32") -> Program:
    """B = alpha A^T B, A lower triangular with ones on its diagonal."""
    p = Builder("trmm")
    alpha, A, B = p.input("alpha", (), number), p.input("A", (m, m), number), p.inout("B", (m, n), number)
    with p.loop("i", 0, m) as i, p.loop("j", 0, n) as j:
        with p.loop("k", i + 1, m) as k:
            B.set((i, j), B[i, j] + A[k, i] * B[k, j], "S1")
        B.set((i, j), alpha * B[i, j], "S2")
    return p.program()


def jacobi(steps: int = 3, n: int = 9, number: str = "float32") -> Program:
    """Two arrays, one after the other."""
    p = Builder("jacobi")
    A, B = p.inout("A", (n,), number), p.inout("B", (n,), number)
    third = 0.33333 if number == "float32" else 3
    with p.loop("t", 0, steps):
        for name, source, target in (("S1", A, B), ("S2", B, A)):
            with p.loop("i", 1, n - 1) as i:
                target.set((i,), third * (source[i - 1] + source[i] + source[i + 1]), name)
    return p.program()


def pair(n: int = 10, number: str = "int16") -> Program:
    """T = X + X, Y[i] = T[i - 1] * T[i]: two nests with an array between them."""
    p = Builder("pair")
    X, T, Y = p.input("X", (n,), number), p.local("T", (n,), number), p.output("Y", (n,), number)
    with p.loop("i", 0, n) as i:
        T.set((i,), X[i] + X[i], "S1")
    with p.loop("i", 1, n) as i:
        Y.set((i,), T[i - 1] * T[i], "S2")
    return p.program()


_ANY = ("add", "sub", "mul", "max", "min")
_WHOLE = ("div", "rem", "shl", "shr", "and", "or", "xor")
_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")


@st.composite
def expressions(
    draw: st.DrawFn, number: str, leaves: st.SearchStrategy[Load], depth: int = 3, tame: bool = False
) -> Expression:
    """Of format `number`: all operators that it has, conversions from all others. `tame`: nothing whose
    result C++ leaves open, and no float becomes large."""
    format = format_of(number)

    def inner(other: str) -> Expression:
        return draw(expressions(other, leaves, depth - 1, tame))

    kinds = ["load", "literal"] + ["two"] * 3 + ["one", "select", "convert"] if depth else ["load", "literal"]
    match draw(st.sampled_from(kinds)):
        case "load":
            load = draw(leaves)
            if tame and load.number == "float32" != number:
                return Literal(1, number)
            return load if load.number == number else Op("convert", (load,), number)
        case "literal":
            if format.kind is Kind.FLOAT:
                ends = {"min_value": -4, "max_value": 4, "allow_subnormal": False} if tame else {}
                return Literal(draw(st.floats(width=32, allow_nan=False, **ends)), number)
            if format.kind is Kind.INTEGER and format.bits >= 8 and draw(st.booleans()):
                return Index(Affine.sum({"i": draw(st.integers(-3, 3))}, draw(st.integers(-9, 9))), number)
            return Literal(draw(st.integers(format.lowest, format.highest)), number)
        case "two":
            names = _ANY + (_WHOLE[4 * tame :] if format.kind is Kind.INTEGER else ())
            names += ("div",) if format.kind is Kind.FLOAT and not tame else ()
            return Op(draw(st.sampled_from(names)), (inner(number), inner(number)), number)
        case "one":
            more = {Kind.INTEGER: ("not",), Kind.FLOAT: ("sqrt", "exp") if not tame else ()}
            names = ("neg", "abs", *more.get(format.kind, ()))
            return Op(draw(st.sampled_from(names)), (inner(number),), number)
        case "convert":
            others = [each for each in FORMATS if each != number and not (tame and each == "float32")]
            return Op("convert", (inner(draw(st.sampled_from(others))),), number)
    other = draw(st.sampled_from(FORMATS))
    condition = Op(draw(st.sampled_from(_COMPARE)), (inner(other), inner(other)), "bool")
    return Op("select", (condition, inner(number), inner(number)), number)


@st.composite
def elementwise(draw: st.DrawFn, size: int = 40, count: int = 1, tame: bool = False) -> Program:
    """`count` statements ``Y[i] = expression of X0[i], X1[i]``, each array of any format."""
    arrays, statements = [], []
    for k in range(count):
        numbers = [draw(st.sampled_from(FORMATS)) for _ in range(3)]
        loads = st.sampled_from([Load(f"X{k}{n}", (name("i"),), numbers[n]) for n in range(2)])
        value = draw(expressions(numbers[2], loads, 3, tame))
        target = Load(f"Y{k}", (name("i"),), numbers[2])
        statements.append(Statement(f"S{k}", ("i",), between("i", 0, size), target, value, (k, 0)))
        arrays += [Array(f"X{k}{n}", (size,), numbers[n], Role.IN) for n in range(2)]
        arrays.append(Array(f"Y{k}", (size,), numbers[2], Role.OUT))
    return Program("elementwise", tuple(arrays), tuple(statements))


LINES = {
    "gemm_tiled": (
        gemm,
        "fission S2 i\ninterchange S2 i k\nunroll S2 j1 2\npipeline S2 2\n"
        "partition C cyclic 1 2\npartition B cyclic 1 2",
    ),
    "trmm_interchanged": (trmm, "interchange S1 i j\nunroll S1 k 2"),
    "jacobi_skewed": (jacobi, "skew S1 i t 2\nskew S2 i1 t 2\nshift S2 i1 1\nfuse S2 S1 i"),
    "pair_fused": (pair, "fuse S2 S1 i"),
}
"""Two nests, the product with k outermost and j in lanes of 2, which do not divide 5. Bounds and guards that
depend on a loop. Both statements in one loop, the second one point behind the first, each sweep two behind
the last."""
SCHEDULES = tuple(LINES)


def scheduled(name: str, number: str = "float32") -> Schedule:
    make, lines = LINES[name]
    return replay(make(number=number), lines)
