"""Programs for tests, by hand and by hypothesis."""

from __future__ import annotations

from collections.abc import Callable

import hypothesis.strategies as st

from axiloom.base.affine import Affine
from axiloom.isa.numerics.formats import Kind, format_of
from axiloom.nests.program import (
    Array,
    Expression,
    Index,
    Literal,
    Load,
    Op,
    Program,
    Role,
    Statement,
)
from axiloom.nests.schedule import Cyclic, Layout, Placed, Schedule

FORMATS = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "int12", "uint5"),
    *("fixed<8,4>", "fixed<16,8>", "fixed<16,0>", "fixed<32,16>", "fixed<12,5>", "float32"),
)


def name(iterator: str) -> Affine:
    return Affine.name(iterator)


def between(iterator: str, low: Affine | int, high: Affine | int) -> tuple[Affine, Affine]:
    """low <= iterator < high."""
    return name(iterator) - low, Affine.of(high) - name(iterator) - 1


def gemm(m: int = 4, n: int = 5, k: int = 6, number: str = "float32") -> Program:
    """C = beta C + alpha A B, in PolyBench's order."""
    c = Load("C", (name("i"), name("j")), number)
    a = Load("A", (name("i"), name("k")), number)
    b = Load("B", (name("k"), name("j")), number)
    alpha, beta = Load("alpha", (), number), Load("beta", (), number)
    product = Op("mul", (Op("mul", (alpha, a), number), b), number)
    box = (*between("i", 0, m), *between("j", 0, n))
    scale = Statement("S1", ("i", "j"), box, c, Op("mul", (c, beta), number), (0, 0, 0))
    update = Statement(
        "S2",
        ("i", "k", "j"),
        (*between("i", 0, m), *between("k", 0, k), *between("j", 0, n)),
        c,
        Op("add", (c, product), number),
        (0, 1, 0, 0),
    )
    arrays = (
        *(Array("alpha", (), number, Role.IN), Array("beta", (), number, Role.IN)),
        Array("C", (m, n), number, Role.INOUT),
        *(Array("A", (m, k), number, Role.IN), Array("B", (k, n), number, Role.IN)),
    )
    return Program("gemm", arrays, (scale, update))


def trmm(m: int = 6, n: int = 5, number: str = "float32") -> Program:
    """B = alpha A^T B, A lower triangular with ones on its diagonal."""
    b = Load("B", (name("i"), name("j")), number)
    a, below = Load("A", (name("k"), name("i")), number), Load("B", (name("k"), name("j")), number)
    box = (*between("i", 0, m), *between("j", 0, n))
    update = Statement(
        "S1",
        ("i", "j", "k"),
        (*box, *between("k", name("i") + 1, m)),
        b,
        Op("add", (b, Op("mul", (a, below), number)), number),
        (0, 0, 0, 0),
    )
    scale = Statement("S2", ("i", "j"), box, b, Op("mul", (Load("alpha", (), number), b), number), (0, 0, 1))
    arrays = (
        Array("alpha", (), number, Role.IN),
        Array("A", (m, m), number, Role.IN),
        Array("B", (m, n), number, Role.INOUT),
    )
    return Program("trmm", arrays, (update, scale))


def jacobi(steps: int = 3, n: int = 9, number: str = "float32") -> Program:
    """Two arrays, one after the other."""

    def average(source: str) -> Expression:
        left, middle, right = (Load(source, (name("i") + d,), number) for d in (-1, 0, 1))
        third = Literal(0.33333, number) if number == "float32" else Literal(3, number)
        return Op("mul", (third, Op("add", (Op("add", (left, middle), number), right), number)), number)

    box = (*between("t", 0, steps), *between("i", 1, n - 1))
    first = Statement("S1", ("t", "i"), box, Load("B", (name("i"),), number), average("A"), (0, 0, 0))
    second = Statement("S2", ("t", "i"), box, Load("A", (name("i"),), number), average("B"), (0, 1, 0))
    arrays = (Array("A", (n,), number, Role.INOUT), Array("B", (n,), number, Role.INOUT))
    return Program("jacobi", arrays, (first, second))


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


def pair(n: int = 10, number: str = "int16") -> Program:
    """T = X + X, Y[i] = T[i - 1] * T[i]: two nests with an array between them."""
    x, i = Load("X", (name("i"),), number), name("i")
    t, before = Load("T", (i,), number), Load("T", (i - 1,), number)
    first = Statement("S1", ("i",), between("i", 0, n), t, Op("add", (x, x), number), (0, 0))
    second = Statement(
        "S2", ("i",), between("i", 1, n), Load("Y", (i,), number), Op("mul", (before, t), number), (1, 0)
    )
    arrays = (
        Array("X", (n,), number, Role.IN),
        Array("T", (n,), number, Role.LOCAL),
        Array("Y", (n,), number, Role.OUT),
    )
    return Program("pair", arrays, (first, second))


def placed(
    statement: Statement, order: tuple[int | str, ...], instance: dict[str, Affine], *bounds: Affine
) -> Placed:
    """`instance` gives the iterators that changed; the domain is the statement's with `bounds`."""
    values = {each: instance.get(each, name(each)) for each in statement.iterators}
    domain = tuple(form.substitute(values) for form in statement.domain)
    return Placed(statement, order, tuple(values[each] for each in statement.iterators), (*domain, *bounds))


def gemm_tiled(number: str = "float32") -> Schedule:
    """Two nests; the product with k outermost and j in lanes of 2, which do not divide 5."""
    program = gemm(number=number)
    scale, update = program.statements
    tile = 2 * name("jo") + name("ji")
    statements = (
        placed(scale, (0, "i", 0, "j", 0), {}),
        placed(update, (1, "k", 0, "i", 0, "jo", 0, "ji", 0), {"j": tile}, name("jo"), *between("ji", 0, 2)),
    )
    layouts = {"C": Layout(Cyclic((1, 2))), "B": Layout(Cyclic((1, 2)))}
    return Schedule(program, statements, frozenset({"ji"}), {1: 2}, layouts)


def trmm_interchanged(number: str = "float32") -> Schedule:
    """j outermost, k in two lanes: triangular, so that bounds and guards depend on i."""
    program = trmm(number=number)
    update, scale = program.statements
    tile = 2 * name("ko") + name("ki")
    statements = (
        placed(update, (0, "j", 0, "i", 0, "ko", 0, "ki", 0), {"k": tile}, *between("ki", 0, 2)),
        placed(scale, (0, "j", 0, "i", 1), {}),
    )
    return Schedule(program, statements, frozenset({"ki"}))


def jacobi_skewed(number: str = "float32") -> Schedule:
    """Both statements in one loop, the second one point behind the first, each sweep two behind the last."""
    program = jacobi(number=number)
    first, second = program.statements
    statements = (
        placed(first, (0, "t", 0, "s", 0), {"i": name("s") - 2 * name("t")}),
        placed(second, (0, "t", 0, "s", 1), {"i": name("s") - 2 * name("t") - 1}),
    )
    return Schedule(program, statements)


def pair_fused(number: str = "int16") -> Schedule:
    program = pair(number=number)
    first, second = program.statements
    return Schedule(program, (placed(first, (0, "i", 0), {}), placed(second, (0, "i", 1), {})))


SCHEDULES: dict[str, Callable[[str], Schedule]] = {
    "gemm_tiled": gemm_tiled,
    "trmm_interchanged": trmm_interchanged,
    "jacobi_skewed": jacobi_skewed,
    "pair_fused": pair_fused,
}
