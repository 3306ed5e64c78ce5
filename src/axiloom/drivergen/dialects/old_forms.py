"""MLIR as older versions and the published AXI4MLIR code write it.

- ``func @f``, ``constant``, ``load`` ...: ops of the dialect ``std``, which have other names today
- ``linalg.fill(%value, %array) : i32, memref<...>``
- ``linalg.generic #trait ins(...)``, where ``#trait = {...}`` stands above
- ``opcode_map<...>``, ``opcode_flow<...>`` and ``init_opcodes<...>`` without ``#accel.`` in front
- ``tensor.expand_shape`` without ``output_shape``
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.tensor import ExpandShapeOp
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.utils.mlir_lexer import MLIRTokenKind

from axiloom.drivergen.dialects.accel import InitOpcodesAttr, OpcodeFlowAttr, OpcodeMapAttr

RENAMED = {
    "func": "func.func",
    "call": "func.call",
    "constant": "arith.constant",
    "addi": "arith.addi",
    "addf": "arith.addf",
    "subi": "arith.subi",
    "subf": "arith.subf",
    "muli": "arith.muli",
    "mulf": "arith.mulf",
    "sexti": "arith.extsi",
    "zexti": "arith.extui",
    "index_cast": "arith.index_cast",
    "alloc": "memref.alloc",
    "dealloc": "memref.dealloc",
    "load": "memref.load",
    "store": "memref.store",
    "dim": "memref.dim",
    "br": "cf.br",
    "cond_br": "cf.cond_br",
}
"""What ops of MLIR's old `std` dialect are called today."""
_BARE: dict[str, type[OpcodeMapAttr | OpcodeFlowAttr | InitOpcodesAttr]] = {
    "opcode_map": OpcodeMapAttr,
    "opcode_flow": OpcodeFlowAttr,
    "init_opcodes": InitOpcodesAttr,
}


class OldFormsParser(Parser):
    """xDSL's parser, which reads these forms too."""

    def _get_op_by_name(self, name: str) -> type[Operation]:
        stack = self._parser_state.dialect_stack
        if name in RENAMED and self.ctx.get_optional_op(name, dialect_stack=stack) is None:
            name = RENAMED[name]
        op_type = super()._get_op_by_name(name)
        return _READERS.get(op_type, op_type)  # type: ignore[return-value]

    def _parse_generic_operation(self, op_type: Any) -> Operation:
        kind: type[Operation] = op_type.kind if isinstance(op_type, _Reader) else op_type
        op: Operation = super()._parse_generic_operation(kind)
        return op

    front: dict[str, Attribute] | None = None
    """The first dictionary since it was set to None."""

    def parse_optional_attr_dict(self) -> dict[str, Attribute]:
        token, attributes = self._current_token, {}
        if token.kind is MLIRTokenKind.HASH_IDENT:
            value = self.attribute_aliases.get(token.text)
            if isinstance(value, DictionaryAttr):
                self._consume_token()
                attributes = dict(value.data)
        attributes |= super().parse_optional_attr_dict()
        if self.front is None:
            self.front = dict(attributes)
        return attributes

    def parse_optional_attribute(self) -> Attribute | None:
        token = self._current_token
        if token.kind is MLIRTokenKind.BARE_IDENT and token.text in _BARE:
            kind = _BARE[token.text]
            self._consume_token()
            return kind.new(kind.parse_parameter(self))
        return super().parse_optional_attribute()


# --- ops whose form has changed -----------------------------------------------------------------------


def _fill(parser: Parser) -> Operation:
    """``linalg.fill(%value, %array) : i32, memref<...>``, on tensors with ``-> tensor<...>`` behind."""
    if parser.parse_optional_punctuation("(") is None:
        today: Operation = linalg.FillOp.parse(parser)
        return today
    place = parser.pos
    value = parser.parse_unresolved_operand()
    parser.parse_punctuation(",")
    array = parser.parse_unresolved_operand()
    parser.parse_punctuation(")")
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    kinds = [parser.parse_type()]
    parser.parse_punctuation(",")
    kinds.append(parser.parse_type())
    results = [parser.parse_type()] if parser.parse_optional_punctuation("->") else []
    inputs, outputs = ([operand] for operand in parser.resolve_operands([value, array], kinds, place))
    return linalg.FillOp(inputs, outputs, results, attributes)


def _expand(parser: Parser) -> Operation:
    """``tensor.expand_shape %x [[0, 1]] : tensor<6xi32> into tensor<2x3xi32>``: the type says the shape."""
    place = parser.pos
    source = parser.parse_unresolved_operand()
    reassociation = parser.parse_attribute()
    if parser.parse_optional_keyword("output_shape"):
        sizes = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_optional_integer)
        if None in sizes:
            parser.raise_error("a size that is a value; sizes must be known")
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    kind = parser.parse_type()
    parser.parse_keyword("into")
    result = parser.parse_type()
    if not isinstance(result, TensorType) or not isinstance(reassociation, ArrayAttr):
        parser.raise_error("expected is %x [[...], ...] : tensor<...> into tensor<...>", place)
    (operand,) = parser.resolve_operands([source], [kind], place)
    return ExpandShapeOp(operand, [], reassociation, result.get_shape(), result, attributes)


def _generic(parser: Parser) -> Operation:
    """xDSL forgets what stands in the dictionary before ``ins`` beside the op's own: a trait, for one."""
    assert isinstance(parser, OldFormsParser)
    parser.front = None
    op = linalg.GenericOp.parse(parser)
    front: dict[str, Attribute] = parser.front or {}
    op.attributes = {
        **{name: attribute for name, attribute in front.items() if name not in _OWN},
        **op.attributes,
    }
    return op


_OWN = ("indexing_maps", "iterator_types", "doc", "library_call")


class _Reader:
    """Stands in for a class of ops where the parser asks it to read a custom form."""

    def __init__(self, kind: type[Operation], parse: Callable[[Parser], Operation]) -> None:
        self.kind = kind
        self.parse = parse

    def dialect_name(self) -> str:
        return self.kind.dialect_name()


_READERS = {
    linalg.FillOp: _Reader(linalg.FillOp, _fill),
    linalg.GenericOp: _Reader(linalg.GenericOp, _generic),
    ExpandShapeOp: _Reader(ExpandShapeOp, _expand),
}
