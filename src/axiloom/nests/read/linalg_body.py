"""What the body of a `linalg.generic` computes, as expressions of a program."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from axiloom.base.affine import Affine
from axiloom.nests.program.expressions import Expression, Index, Literal, Op
from axiloom.nests.program.typed import apply, convert, index, literal, select

_TWO = {
    "addf": "add",
    "subf": "sub",
    "mulf": "mul",
    "divf": "div",
    "maximumf": "max",
    "minimumf": "min",
    "maxnumf": "max",
    "minnumf": "min",
    "addi": "add",
    "subi": "sub",
    "muli": "mul",
    "maxsi": "max",
    "minsi": "min",
    "divsi": "div",
    "remsi": "rem",
    "andi": "and",
    "ori": "or",
    "xori": "xor",
    "shli": "shl",
    "shrsi": "shr",
}
_ONE = {"arith.negf": "neg", "math.absf": "abs", "math.absi": "abs", "math.sqrt": "sqrt", "math.exp": "exp"}
_ORDERED = {
    "eq": ("eq", False),
    "gt": ("lt", True),
    "ge": ("le", True),
    "lt": ("lt", False),
    "le": ("le", False),
}
_CMPF = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
_CMPI = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_OPPOSITE = {"gt": "le", "ge": "lt", "lt": "ge", "le": "gt"}


def number(type_: Attribute) -> str:
    """The number of an MLIR type; signless integers are signed, i1 is bool. Raises ValueError."""
    if isinstance(type_, Float32Type):
        return "float32"
    if isinstance(type_, IntegerType):
        bits = type_.width.data
        if bits == 1:
            return "bool"
        return f"{'u' if type_.signedness.data.value == 'unsigned' else ''}int{bits}"
    if isinstance(type_, IndexType):
        return "int32"
    raise ValueError(f"elements of type {type_}; accepted are f32 and integers")


def constant(op: arith.ConstantOp) -> Literal:
    """A constant that is no tensor. Raises ValueError."""
    if isinstance(op.value, (FloatAttr, IntegerAttr)):
        value = op.value.value.data
        kind = number(op.result.type)
        if isinstance(op.value, IntegerAttr) and kind.startswith("uint"):
            value %= 1 << int(kind[4:])
        return literal(value, kind)
    raise ValueError("a constant of an unknown form")


def scalar(op: Operation, known: Mapping[SSAValue, Expression], iterators: tuple[str, ...]) -> Expression:
    """The result of one op of a body. Raises ValueError for what is not known."""
    operands = [known[operand] for operand in op.operands]
    name = op.name.removeprefix("arith.")
    if isinstance(op, arith.ConstantOp):
        return constant(op)
    if op.name == "linalg.index":
        dim = op.dim.value.data  # type: ignore[attr-defined]
        return index(Affine.name(iterators[dim]))
    if name in _TWO:
        return _sum(name, *operands) or apply(_TWO[name], *operands)
    if op.name in _ONE:
        return apply(_ONE[op.name], *operands)
    if op.name == "math.rsqrt":
        return apply("div", literal(1.0, operands[0].number), apply("sqrt", *operands))
    if name == "cmpf":
        return _compared(_CMPF[op.predicate.value.data], *operands)  # type: ignore[attr-defined]
    if name == "cmpi":
        return _whole(_CMPI[op.predicate.value.data], *operands)  # type: ignore[attr-defined]
    if name == "select":
        return _selected(*operands)
    if name in ("extsi", "trunci", "sitofp", "fptosi", "index_cast"):
        return convert(operands[0], number(op.results[0].type))
    if name in ("extui", "uitofp") and operands[0].number == "bool":
        return convert(operands[0], number(op.results[0].type))
    if name in ("extui", "uitofp"):
        unsigned = convert(operands[0], f"uint{operands[0].number.lstrip('uint')}")
        return convert(unsigned, number(op.results[0].type))
    raise ValueError(f"{op.name} is not known in a body")


def _sum(name: str, a: Expression, b: Expression) -> Expression | None:
    """Sums of iterators stay forms."""
    if not isinstance(a, Index) and not isinstance(b, Index):
        return None
    forms = [
        operand.value if isinstance(operand, Index) else Affine((), int(operand.value))
        for operand in (a, b)
        if isinstance(operand, (Index, Literal))
    ]
    if len(forms) != 2 or name not in ("addi", "subi"):
        return None
    return index(forms[0] + forms[1] if name == "addi" else forms[0] - forms[1], a.number)


def _compared(predicate: str, a: Expression, b: Expression) -> Expression:
    """Unordered comparisons hold for NaN: they are the opposite of an ordered one."""
    kind, base = predicate[0], predicate[1:]
    if predicate == "une":
        return apply("ne", a, b)
    if kind == "o" and base in _ORDERED:
        name, swapped = _ORDERED[base]
        return apply(name, *((b, a) if swapped else (a, b)))
    if kind == "u" and base in _OPPOSITE:
        return apply("not", _compared(f"o{_OPPOSITE[base]}", a, b))
    raise ValueError(f"arith.cmpf {predicate} is not known")


def _whole(predicate: str, a: Expression, b: Expression) -> Expression:
    if predicate in ("eq", "ne"):
        return apply(predicate, a, b)
    if predicate[0] == "u":
        a, b = (convert(operand, f"u{operand.number.removeprefix('u')}") for operand in (a, b))
    name, swapped = _ORDERED[predicate[1:]]
    return apply(name, *((b, a) if swapped else (a, b)))


def _selected(condition: Expression, yes: Expression, no: Expression) -> Expression:
    """torch's ReLU, ``not x <= 0 ? x : 0``, is a maximum: NaN stays, and -0 becomes 0, in both."""
    if (
        isinstance(no, Literal)
        and no.number == "float32"
        and str(no.value) != "-0.0"
        and condition == Op("not", (Op("le", (yes, no), "bool"),), "bool")
    ):
        return apply("max", yes, no)
    return select(condition, yes, no)
