"""The `accel` dialect: an accelerator's instruction set on a linalg op, and the transfers it becomes.

Attributes: the trait of a `linalg.generic`, all published but the last four::

    opcode_map      = #accel.opcode_map<sA = [send_literal(1), send(A)], ...>
    opcode_flow     = #accel.opcode_flow<((sA sB cC) rC)>
    init_opcodes    = #accel.init_opcodes<(reset)>                    optional
    dma_init_config = #accel.dma_init_config<id = 0, address = ..., input = ..., ...>
    accel_dim       = affine_map<(d0, d1, d2) -> (16, 16, 16)>        tile size of each loop
    permutation_map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>        loops, outermost first
    accel_dims      = ["m", "n", "k"]                                 name of each loop
    accel_operands  = [#accel.operand<A(m, k)>, ...]                  name and stream order of each operand
    stream_width    = 64 : i64                                        bits of the streams; optional: 32
    accel_loads     = ["sA", "sB"]                                    opcodes that only load; optional

Operations: words are staged in the DMA's input window from an offset on, and each op returns the offset
behind its words; a transfer is explicit and carries a token until somebody waits for it. Joining two
transfers or moving a wait is therefore a local rewrite. Offsets and lengths are in 32-bit words.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, ClassVar

from xdsl.dialects import func
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    i32,
    i64,
)
from xdsl.ir import (
    Data,
    Dialect,
    Operation,
    ParametrizedAttribute,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.mlir_lexer import MLIRTokenKind

from axiloom.drivergen.dialects.channels import CHANNEL_OPS
from axiloom.drivergen.dialects.elements import ADDED, SENT, suffix, width
from axiloom.drivergen.dialects.packing import PackingAttr
from axiloom.drivergen.dialects.product import ProductOp
from axiloom.drivergen.dialects.queue import QUEUE_OPS
from axiloom.drivergen.dialects.table import TABLE_OPS
from axiloom.isa.contract.types import WORD_BITS, DmaConfig, HostAction, Scope
from axiloom.isa.files.grammar import (
    GrammarError,
    parse_opcode_flow,
    parse_opcode_map,
    print_opcode_flow,
    print_opcode_map,
)

# --- attributes -------------------------------------------------------------------------------------


def _text_in_angles(parser: AttrParser) -> str:
    """The raw text between `<` and its `>`, for a grammar that is not MLIR's (`<<` is in parentheses)."""
    parser.parse_punctuation("<")
    start, depth = parser.pos, 0
    while True:
        token = parser._consume_token()
        text = token.span.text
        if token.kind is MLIRTokenKind.EOF:
            parser.raise_error("expected `>`")
        if text == ">" and depth <= 0:
            return str(parser.lexer.input.content[start : token.span.start])
        depth += (text in ("(", "[")) - (text in (")", "]"))


@irdl_attr_definition
class OpcodeMapAttr(Data[tuple[tuple[str, tuple[HostAction, ...]], ...]]):
    """What the host sends and receives for each opcode, in the grammar of
    :mod:`axiloom.isa.files.grammar`."""

    name = "accel.opcode_map"

    @classmethod
    def of(cls, opcodes: Mapping[str, Sequence[HostAction]]) -> OpcodeMapAttr:
        return cls(tuple((name, tuple(actions)) for name, actions in opcodes.items()))

    @property
    def opcodes(self) -> dict[str, tuple[HostAction, ...]]:
        return dict(self.data)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[str, tuple[HostAction, ...]], ...]:
        try:
            return tuple(parse_opcode_map(f"<{_text_in_angles(parser)}>").items())
        except GrammarError as error:
            parser.raise_error(f"opcode_map: {error.what}")

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(print_opcode_map(self.opcodes).removeprefix("opcode_map"))


class _ScopeAttr(Data[Scope]):
    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Scope:
        try:
            return parse_opcode_flow(f"<{_text_in_angles(parser)}>")
        except GrammarError as error:
            parser.raise_error(f"{cls.name.removeprefix('accel.')}: {error.what}")

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(print_opcode_flow(self.data).removeprefix("opcode_flow"))


@irdl_attr_definition
class OpcodeFlowAttr(_ScopeAttr):
    """The flow: which opcode is sent in the body of which loop."""

    name = "accel.opcode_flow"


@irdl_attr_definition
class InitOpcodesAttr(_ScopeAttr):
    """Opcodes sent once, before the loops. One scope, no inner ones."""

    name = "accel.init_opcodes"


@irdl_attr_definition
class DmaInitConfigAttr(Data[DmaConfig]):
    """Addresses and sizes (bytes) of the DMA and its two windows, and the width of its LENGTH register.

    ``scatter_gather = 1`` where it takes descriptors, ``coherent = 1`` where its ports look into the CPU's
    caches; 0 is not printed.
    """

    name = "accel.dma_init_config"

    FIELDS: ClassVar[dict[str, str]] = {
        "id": "id",
        "address": "address",
        "input": "input_address",
        "input_size": "input_buffer_size",
        "output": "output_address",
        "output_size": "output_buffer_size",
        "length_width": "length_width",
        "scatter_gather": "scatter_gather",
        "coherent": "coherent",
    }
    FLAGS: ClassVar[tuple[str, ...]] = ("scatter_gather", "coherent")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> DmaConfig:
        def entry() -> tuple[str, int]:
            key = parser.parse_identifier()
            if key not in cls.FIELDS:
                parser.raise_error(f"expected one of {', '.join(cls.FIELDS)}")
            parser.parse_punctuation("=")
            return cls.FIELDS[key], parser.parse_integer(allow_boolean=False, allow_negative=False)

        values: dict[str, Any] = dict(parser.parse_comma_separated_list(parser.Delimiter.ANGLE, entry))
        for flag in cls.FLAGS:
            if values.get(flag, 0) > 1:
                parser.raise_error(f"{flag} must be 0 or 1")
            values[flag] = values.get(flag) == 1
        return DmaConfig(**values)

    def print_parameter(self, printer: Printer) -> None:
        values = {key: int(getattr(self.data, name)) for key, name in self.FIELDS.items()}
        for flag in self.FLAGS:
            if not values[flag]:
                del values[flag]
        fields = (f"{k} = {hex(v) if k in ('address', 'input', 'output') else v}" for k, v in values.items())
        printer.print_string(f"<{', '.join(fields)}>")


@irdl_attr_definition
class OperandAttr(Data[tuple[str, tuple[str, ...]]]):
    """An operand's name in the opcode map, and its dims in the order in which a tile travels."""

    name = "accel.operand"

    @property
    def operand(self) -> str:
        return self.data[0]

    @property
    def dims(self) -> tuple[str, ...]:
        return self.data[1]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[str, tuple[str, ...]]:
        with parser.in_angle_brackets():
            name = parser.parse_identifier()
            dims = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_identifier)
        return name, tuple(dims)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.operand}({', '.join(self.dims)})>")


@irdl_attr_definition
class DenseAttr(Data[tuple[int, int]]):
    """How elements travel that follow each other without gaps: ``#accel.dense<1 rows, beats of 64>``.

    As many leading dims begin on a beat each; zeros fill up the beat behind the last element before it.
    """

    name = "accel.dense"

    @property
    def rows(self) -> int:
        return self.data[0]

    @property
    def beat_bits(self) -> int:
        return self.data[1]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int, int]:
        with parser.in_angle_brackets():
            rows = parser.parse_integer(allow_boolean=False, allow_negative=False)
            parser.parse_keyword("rows")
            parser.parse_punctuation(",")
            parser.parse_keyword("beats")
            parser.parse_keyword("of")
            return rows, parser.parse_integer(allow_boolean=False, allow_negative=False)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.rows} rows, beats of {self.beat_bits}>")


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """A transfer in flight on the channel `send` (MM2S) or `recv` (S2MM)."""

    name = "accel.token"

    channel: StringAttr

    def __init__(self, channel: str | StringAttr) -> None:
        super().__init__(StringAttr(channel) if isinstance(channel, str) else channel)

    def verify(self) -> None:
        if self.channel.data not in ("send", "recv"):
            raise VerifyException(f'channel must be "send" or "recv", not "{self.channel.data}"')


# --- operations -------------------------------------------------------------------------------------


@irdl_custom_directive
class IntList(CustomDirective):
    """``[4, 4]`` for an array of integers, where MLIR would print ``array<i64: 4, 4>``."""

    values: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        values = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        self.values.set(state, DenseArrayBase.from_list(i64, values))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        values = self.values.get(op)
        assert isinstance(values, DenseArrayBase)
        printer.print_string(str(list(values.get_values())))


def constant(value: SSAValue) -> int | None:
    """The value of an `arith.constant`, else None."""
    if isinstance(value.owner, ConstantOp) and isinstance(value.owner.value, IntegerAttr):
        return int(value.owner.value.value.data)
    return None


@irdl_op_definition
class InitDmaOp(IRDLOperation):
    """Map the DMA and its windows. Once, before anything else."""

    name = "accel.init_dma"

    config = prop_def(DmaInitConfigAttr)
    assembly_format = "$config attr-dict"

    def __init__(self, config: DmaInitConfigAttr) -> None:
        super().__init__(properties={"config": config})


class RegisterOp(IRDLOperation, ABC):
    """Base of the accesses to the device's own registers: byte address from the DMA's, and a word."""

    at = prop_def(IntegerAttr[I64])
    value = prop_def(IntegerAttr[I64])
    assembly_format = "$at `,` $value attr-dict"

    def __init__(self, at: int, value: int) -> None:
        super().__init__(properties={"at": IntegerAttr(at, i64), "value": IntegerAttr(value, i64)})


@irdl_op_definition
class WriteRegisterOp(RegisterOp):
    """Write a register."""

    name = "accel.write_register"


@irdl_op_definition
class WaitRegisterOp(RegisterOp):
    """Read a register until one of the bits of `value` is set."""

    name = "accel.wait_register"


class CarryOp(IRDLOperation, ABC):
    """Base of what hands words of a window to the device through registers from `at` on."""

    at = prop_def(IntegerAttr[I64])
    begin = operand_def(IndexType)
    end = operand_def(IndexType)
    assembly_format = "$at `,` $begin `to` $end attr-dict"

    def __init__(self, at: int, begin: SSAValue, end: SSAValue) -> None:
        super().__init__(operands=[begin, end], properties={"at": IntegerAttr(at, i64)})


@irdl_op_definition
class WriteElementsOp(CarryOp):
    """Write each element that was staged from `begin` to `end` to a register of its own, in order."""

    name = "accel.write_elements"

    bits = prop_def(IntegerAttr[I64])
    count = prop_def(IntegerAttr[I64])
    assembly_format = "$at `,` $count `of` $bits `bits` $begin `to` $end attr-dict"

    def __init__(self, at: int, begin: SSAValue, end: SSAValue, count: int, bits: int) -> None:
        super().__init__(at, begin, end)
        self.properties["count"] = IntegerAttr(count, i64)
        self.properties["bits"] = IntegerAttr(bits, i64)


@irdl_op_definition
class PointInOp(CarryOp):
    """Write the address of words of the input window: the device reads them itself."""

    name = "accel.point_in"


@irdl_op_definition
class PointOutOp(CarryOp):
    """Write the address of words of the output window: the device writes them itself."""

    name = "accel.point_out"


class InPlaceOp(IRDLOperation, ABC):
    """Base of what hands a tile to the device where it lies: no padding, one element behind the other."""

    tile = operand_def(MemRefType)
    words = prop_def(IntegerAttr[I64])


class PointAtOp(InPlaceOp, ABC):
    """Base of the ops that write the address of a tile to registers from `at` on."""

    at = prop_def(IntegerAttr[I64])
    assembly_format = "$at `,` $words `words` `of` $tile attr-dict `:` type($tile)"

    def __init__(self, at: int, tile: SSAValue, words: int) -> None:
        properties = {"at": IntegerAttr(at, i64), "words": IntegerAttr(words, i64)}
        super().__init__(operands=[tile], properties=properties)


@irdl_op_definition
class PointAtInputOp(PointAtOp):
    """The device reads the tile itself."""

    name = "accel.point_at_input"


@irdl_op_definition
class PointAtResultOp(PointAtOp):
    """The device writes the tile itself, all of it."""

    name = "accel.point_at_result"


@irdl_op_definition
class TakeInPlaceOp(InPlaceOp):
    """The device has written the tile: the CPU may read it."""

    name = "accel.take_in_place"

    assembly_format = "$words `words` `of` $tile attr-dict `:` type($tile)"

    def __init__(self, tile: SSAValue, words: int) -> None:
        super().__init__(operands=[tile], properties={"words": IntegerAttr(words, i64)})


@irdl_op_definition
class TakeOutOp(IRDLOperation):
    """The device has written words of the output window: the CPU may read them."""

    name = "accel.take_out"

    begin = operand_def(IndexType)
    end = operand_def(IndexType)
    assembly_format = "$begin `to` $end attr-dict"

    def __init__(self, begin: SSAValue, end: SSAValue) -> None:
        super().__init__(operands=[begin, end])


class StageOp(IRDLOperation, ABC):
    """Base of the ops that put words into the input window from `offset` on."""

    offset = operand_def(IndexType)
    end = result_def(IndexType)

    def words(self) -> int:
        """Number of words this op stages."""
        return 1


@irdl_op_definition
class SendLiteralOp(StageOp):
    """Stage one constant word."""

    name = "accel.send_literal"

    value = prop_def(IntegerAttr[I64])
    assembly_format = "$value `at` $offset attr-dict"

    def __init__(self, value: int, offset: SSAValue | Operation) -> None:
        attr = IntegerAttr(value, i64)
        super().__init__(operands=[offset], result_types=[IndexType()], properties={"value": attr})

    def verify_(self) -> None:
        if not 0 <= self.value.value.data < 1 << WORD_BITS:
            raise VerifyException(f"literal {self.value.value.data} does not fit a word of {WORD_BITS} bits")


@irdl_op_definition
class SendDimOp(StageOp):
    """Stage one word made of tile sizes, each shifted left by its `shifts` bits."""

    name = "accel.send_dim"

    sizes = var_operand_def(IndexType)
    shifts = prop_def(DenseArrayBase.constr(i64))
    custom_directives = (IntList,)
    assembly_format = "$sizes `shifts` custom<IntList>($shifts) `at` $offset attr-dict"

    def __init__(
        self, sizes: Sequence[SSAValue], shifts: Sequence[int], offset: SSAValue | Operation
    ) -> None:
        super().__init__(
            operands=[sizes, offset],
            result_types=[IndexType()],
            properties={"shifts": DenseArrayBase.from_list(i64, list(shifts))},
        )

    def verify_(self) -> None:
        shifts = self.shifts.get_values()
        if not shifts or len(shifts) != len(self.sizes):
            raise VerifyException(f"{len(self.sizes)} sizes need as many shifts, not {len(shifts)}")
        if not all(0 <= shift < WORD_BITS for shift in shifts):
            raise VerifyException(f"shifts must be from 0 to {WORD_BITS - 1}, not {list(shifts)}")


@irdl_op_definition
class SendIdxOp(StageOp):
    """Stage one word: the element index at which the current tile starts in a dim."""

    name = "accel.send_idx"

    index = operand_def(IndexType)
    assembly_format = "$index `at` $offset attr-dict"

    def __init__(self, index: SSAValue, offset: SSAValue | Operation) -> None:
        super().__init__(operands=[index, offset], result_types=[IndexType()])


def _verify_tile(
    tile: SSAValue, shape: Sequence[int], permutation: Sequence[int], dense: DenseAttr | None
) -> None:
    kind = tile.type
    assert isinstance(kind, MemRefType)
    element = kind.element_type
    if suffix(element) is None:
        raise VerifyException(f"elements must be {', '.join(SENT)}, not {element}")
    if sorted(permutation) != list(range(kind.get_num_dims())):
        raise VerifyException(f"{list(permutation)} is no permutation of the {kind.get_num_dims()} dims")
    if len(shape) != len(permutation) or not all(size > 0 for size in shape):
        raise VerifyException(f"a tile of {list(shape)} does not match a memref of rank {len(permutation)}")
    for size, dim in zip(shape, permutation, strict=True):
        if (real := kind.get_shape()[dim]) != DYNAMIC_INDEX and real > size:
            raise VerifyException(f"dim {dim} of size {real} is larger than the tile's {size}")
    if dense is None and shape[-1] * width(element) % WORD_BITS:
        raise VerifyException(f"{shape[-1]} elements of {element} are not a whole number of words")


def tile_words(shape: Sequence[int], element_bits: int, dense: DenseAttr | None) -> int:
    """Stream words of a tile of `shape`."""
    if dense is None:
        return prod(shape) * element_bits // WORD_BITS
    beats = -(-prod(shape[dense.rows :]) * element_bits // dense.beat_bits)
    return prod(shape[: dense.rows]) * beats * dense.beat_bits // WORD_BITS


def _words(op: SendOp | RecvOp) -> int:
    assert isinstance(op.tile.type, MemRefType)
    return int(tile_words(op.shape.get_values(), width(op.tile.type.element_type), op.dense))


@irdl_op_definition
class SendOp(StageOp):
    """Stage a tile, row major, packed, padded with zeros up to `shape`.

    Dim i of `shape` is dim ``permutation[i]`` of the memref: ``[1, 0]`` transposes on the way.
    """

    name = "accel.send"

    tile = operand_def(MemRefType)
    shape = prop_def(DenseArrayBase.constr(i64))
    permutation = prop_def(DenseArrayBase.constr(i64))
    dense = opt_prop_def(DenseAttr)
    custom_directives = (IntList,)
    assembly_format = (
        "$tile `as` custom<IntList>($shape) `permutation` custom<IntList>($permutation) `at` $offset "
        "(`dense` $dense^)? attr-dict `:` type($tile)"
    )

    def __init__(
        self,
        tile: SSAValue,
        shape: Sequence[int],
        permutation: Sequence[int],
        offset: SSAValue | Operation,
        dense: DenseAttr | None = None,
    ) -> None:
        super().__init__(
            operands=[tile, offset],
            result_types=[IndexType()],
            properties={
                "shape": DenseArrayBase.from_list(i64, list(shape)),
                "permutation": DenseArrayBase.from_list(i64, list(permutation)),
                "dense": dense,
            },
        )

    def verify_(self) -> None:
        _verify_tile(self.tile, self.shape.get_values(), self.permutation.get_values(), self.dense)

    def words(self) -> int:
        return _words(self)


@irdl_op_definition
class RecvOp(IRDLOperation):
    """Take a received tile out of the output window at `offset`: add it to the memref, or overwrite it.

    What lies beyond the memref's own size is padding and is dropped.
    """

    name = "accel.recv"

    tile = operand_def(MemRefType)
    offset = operand_def(IndexType)
    shape = prop_def(DenseArrayBase.constr(i64))
    permutation = prop_def(DenseArrayBase.constr(i64))
    mode = prop_def(StringAttr)
    dense = opt_prop_def(DenseAttr)
    custom_directives = (IntList,)
    assembly_format = (
        "$tile `as` custom<IntList>($shape) `permutation` custom<IntList>($permutation) `at` $offset "
        "`mode` $mode (`dense` $dense^)? attr-dict `:` type($tile)"
    )

    MODES: ClassVar[tuple[str, ...]] = ("accumulate", "overwrite")

    def __init__(
        self,
        tile: SSAValue,
        shape: Sequence[int],
        permutation: Sequence[int],
        offset: SSAValue | Operation,
        mode: str,
        dense: DenseAttr | None = None,
    ) -> None:
        super().__init__(
            operands=[tile, offset],
            properties={
                "shape": DenseArrayBase.from_list(i64, list(shape)),
                "permutation": DenseArrayBase.from_list(i64, list(permutation)),
                "mode": StringAttr(mode),
                "dense": dense,
            },
        )

    def verify_(self) -> None:
        _verify_tile(self.tile, self.shape.get_values(), self.permutation.get_values(), self.dense)
        assert isinstance(self.tile.type, MemRefType)
        kind = suffix(self.tile.type.element_type)
        if kind not in ADDED and self.mode.data == "accumulate":
            raise VerifyException("only i32 and f32 are added up")
        if self.mode.data not in self.MODES:
            raise VerifyException(f"mode must be one of {', '.join(self.MODES)}, not {self.mode.data}")

    def words(self) -> int:
        return _words(self)


class StartOp(IRDLOperation, ABC):
    """Base of the ops that start a transfer of the words from `begin` up to `end` of a window."""

    CHANNEL: ClassVar[str]

    begin = operand_def(IndexType)
    end = operand_def(IndexType)
    token = result_def(TokenType)

    def __init__(self, begin: SSAValue | Operation, end: SSAValue | Operation) -> None:
        super().__init__(operands=[begin, end], result_types=[TokenType(self.CHANNEL)])

    def verify_(self) -> None:
        if self.token.type != TokenType(self.CHANNEL):
            raise VerifyException(f"the token of {self.name} must be of channel {self.CHANNEL}")
        begin, end = constant(self.begin), constant(self.end)
        if begin is not None and end is not None and begin >= end:
            raise VerifyException(f"a transfer from {begin} to {end} is empty")


@irdl_op_definition
class StartSendOp(StartOp):
    """Start sending staged words."""

    name = "accel.start_send"
    CHANNEL: ClassVar[str] = "send"
    assembly_format = "$begin `to` $end attr-dict `:` type($token)"


@irdl_op_definition
class StartRecvOp(StartOp):
    """Arm the receiving channel, before the send that makes the device answer."""

    name = "accel.start_recv"
    CHANNEL: ClassVar[str] = "recv"
    assembly_format = "$begin `to` $end attr-dict `:` type($token)"


@irdl_op_definition
class WaitOp(IRDLOperation):
    """Wait until a transfer is complete."""

    name = "accel.wait"

    token = operand_def(TokenType)
    assembly_format = "$token attr-dict `:` type($token)"

    def __init__(self, token: SSAValue | Operation) -> None:
        super().__init__(operands=[token])


@irdl_op_definition
class CheckOp(IRDLOperation):
    """Return from the function with this status unless it is DMA_OK (0)."""

    name = "accel.check"

    status = operand_def(i32)
    assembly_format = "$status attr-dict"

    def __init__(self, status: SSAValue | Operation) -> None:
        super().__init__(operands=[status])


@irdl_op_definition
class PreloadOp(IRDLOperation):
    """Let cache lines come, from an element on, that nothing needs yet; beyond the end of an array too."""

    name = "accel.preload"

    array = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    lines = prop_def(IntegerAttr[I64])
    assembly_format = "$lines `from` $array `[` $indices `]` attr-dict `:` type($array)"

    def __init__(self, array: SSAValue, indices: Sequence[SSAValue], lines: int) -> None:
        super().__init__(operands=[array, indices], properties={"lines": IntegerAttr(lines, i64)})


def dma_of(function: func.FuncOp, module: ModuleOp) -> DmaConfig | None:
    """The DMA that the function, or the one that initialises it, has mapped."""
    names = (function.sym_name.data, f"{function.sym_name.data}_init")
    for other in module.ops:
        if isinstance(other, func.FuncOp) and other.sym_name.data in names:
            for op in other.walk():
                if isinstance(op, InitDmaOp):
                    return op.config.data
    return None


Accel = Dialect(
    "accel",
    [
        PreloadOp,
        InitDmaOp,
        WriteRegisterOp,
        WaitRegisterOp,
        WriteElementsOp,
        PointInOp,
        PointOutOp,
        TakeOutOp,
        PointAtInputOp,
        PointAtResultOp,
        TakeInPlaceOp,
        SendLiteralOp,
        SendDimOp,
        SendIdxOp,
        SendOp,
        RecvOp,
        StartSendOp,
        StartRecvOp,
        WaitOp,
        CheckOp,
        ProductOp,
        *CHANNEL_OPS,
        *QUEUE_OPS,
        *TABLE_OPS,
    ],
    [
        OpcodeMapAttr,
        OpcodeFlowAttr,
        InitOpcodesAttr,
        DmaInitConfigAttr,
        OperandAttr,
        DenseAttr,
        PackingAttr,
        TokenType,
    ],
)
