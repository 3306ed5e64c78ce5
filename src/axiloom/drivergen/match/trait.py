"""The trait: which accelerator executes a `linalg.generic`, and how, as attributes of the op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from axiloom.base.wording.names import hint
from axiloom.drivergen.dialects.accel import (
    DmaInitConfigAttr,
    InitOpcodesAttr,
    OpcodeFlowAttr,
    OpcodeMapAttr,
    OperandAttr,
)
from axiloom.drivergen.dialects.mlir import fail
from axiloom.drivergen.match.matmul import terms
from axiloom.isa.check.link import STREAM_WIDTHS
from axiloom.isa.contract.types import WORD_BITS, DmaConfig, HostAction, Recv, Scope, Send, SendDim, SendIdx

REQUIRED = ("opcode_map", "opcode_flow", "dma_init_config", "accel_dim")
OPTIONAL = (
    "init_opcodes",
    "permutation_map",
    "accel_dims",
    "accel_operands",
    "stream_width",
    "accel_loads",
    "accel_settings",
    "accel_dense",
    "accel_saves",
    "accel_images",
    "accel_overwrites",
    "accel_registers",
)
WORDS = "words"
"""The dim of an operand that no loop runs over: the words of a channel."""
IMAGE = {"oh": "ih", "ow": "iw"}
"""What an operand's dim is called that the device walks over for the result's rows (columns)."""


@dataclass(frozen=True)
class Trait:
    """The attributes as values. Tuples `tile`, `dims` follow the loops of the op, `operands` its operands."""

    opcodes: dict[str, tuple[HostAction, ...]]
    flow: Scope
    init: Scope | None
    dma: DmaConfig
    tile: tuple[int, ...]
    order: tuple[int, ...]
    """Numbers of the host's loops, outermost first; the device takes the others whole."""
    dims: tuple[str, ...]
    operands: tuple[OperandAttr, ...]
    stream_width: int = WORD_BITS
    """Bits of the accelerator's streams; written only where it is not that of a word."""
    loads: tuple[str, ...] = ()
    """Opcodes of which is known that they load operands and do nothing else."""
    settings: Mapping[str, int] = field(default_factory=dict)
    """What else a send_dim can name: stride, dilation, padding, rows of an image."""
    dense: Mapping[str, int] = field(default_factory=dict)
    """Operands whose elements travel without gaps, and how many leading dims of them begin on beats.

    The rows of others are whole words.
    """
    images: Mapping[str, str] = field(default_factory=dict)
    """Dims of operands that a window slides along, each with a loop of the result that moves it alone."""
    overwrites: bool = False
    """Results take the place of what was there, whatever it was."""
    registers: Mapping[str, str] = field(default_factory=dict)
    """Accesses to the device's registers: ``mm before`` and ``mm after`` (of opcode mm) to their texts,
    ``write 0x8010 4; wait 0x8004 2``."""
    saves: int = 0
    """The device keeps as many results of the loops inside, and what is received holds all of them."""

    @classmethod
    def of(cls, op: linalg.GenericOp) -> Trait:
        """Read and check the complete trait of `op`; raises CompileError with the op's place."""
        trait = cls(
            _get(op, "opcode_map", OpcodeMapAttr).opcodes,
            _get(op, "opcode_flow", OpcodeFlowAttr).data,
            _get(op, "init_opcodes", InitOpcodesAttr).data if "init_opcodes" in op.attributes else None,
            _get(op, "dma_init_config", DmaInitConfigAttr).data,
            _tile(op, _get(op, "accel_dim", AffineMapAttr).data),
            _order(op, _get(op, "permutation_map", AffineMapAttr).data),
            tuple(a.data for a in _list(op, "accel_dims", StringAttr)),
            tuple(_list(op, "accel_operands", OperandAttr)),
            _stream_width(op),
            tuple(a.data for a in _list(op, "accel_loads", StringAttr))
            if "accel_loads" in op.attributes
            else (),
            _numbers(op, "accel_settings"),
            _numbers(op, "accel_dense"),
            _names(op, "accel_images"),
            "accel_overwrites" in op.attributes,
            saves=_get(op, "accel_saves", IntegerAttr).value.data if "accel_saves" in op.attributes else 0,
            registers=_names(op, "accel_registers"),
        )
        trait._check(op)
        return trait

    def write(self, op: linalg.GenericOp) -> None:
        """Set the attributes of `op`."""
        loops = len(self.dims)
        tile = AffineMap(loops, 0, tuple(AffineConstantExpr(size) for size in self.tile))
        order = AffineMap(loops, 0, tuple(AffineDimExpr(loop) for loop in self.order))
        op.attributes |= {
            "opcode_map": OpcodeMapAttr.of(self.opcodes),
            "opcode_flow": OpcodeFlowAttr(self.flow),
            "dma_init_config": DmaInitConfigAttr(self.dma),
            "accel_dim": AffineMapAttr(tile),
            "permutation_map": AffineMapAttr(order),
            "accel_dims": ArrayAttr([StringAttr(d) for d in self.dims]),
            "accel_operands": ArrayAttr(self.operands),
        }
        if self.init is not None:
            op.attributes["init_opcodes"] = InitOpcodesAttr(self.init)
        if self.stream_width != WORD_BITS:
            op.attributes["stream_width"] = IntegerAttr(self.stream_width, i64)
        if self.loads:
            op.attributes["accel_loads"] = ArrayAttr([StringAttr(name) for name in self.loads])
        for name, values in (("accel_settings", self.settings), ("accel_dense", self.dense)):
            if values:
                op.attributes[name] = DictionaryAttr({k: IntegerAttr(v, i64) for k, v in values.items()})
        if self.images:
            named = {dim: StringAttr(loop) for dim, loop in self.images.items()}
            op.attributes["accel_images"] = DictionaryAttr(named)
        if self.registers:
            texts = {where: StringAttr(text) for where, text in self.registers.items()}
            op.attributes["accel_registers"] = DictionaryAttr(texts)
        if self.overwrites:
            op.attributes["accel_overwrites"] = UnitAttr()
        if self.saves:
            op.attributes["accel_saves"] = IntegerAttr(self.saves, i64)

    def tile_of(self, operand: OperandAttr) -> tuple[int, ...]:
        """Tile of an operand, in elements, in the order in which it travels."""
        return tuple(self.size(d) for d in operand.dims)

    def size(self, name: str) -> int:
        """The tile's size in a dim, or the value of a setting."""
        return self.settings[name] if name in self.settings else self.tile[self.dim(name)]

    def axis(self, operand: int, expression: AffineExpr) -> str | None:
        """The dim of an operand's tile that runs along a dim of its memref; None: a loop of the host does."""
        known = self.operands[operand].dims
        factors = terms(expression)
        if not factors and WORDS in known:
            return WORDS
        over = {loop: dim for dim, loop in self.images.items() if dim in known}
        for loop in factors:
            name = self.dims[loop]
            if name in over and len(factors) >= 1 and name not in known:
                return over[name]
            for candidate in (name, IMAGE.get(name, name)):
                if candidate in known:
                    return candidate
        return None

    def operand(self, reference: str) -> int:
        """Index of the operand that an action names, by name or by number."""
        names = [o.operand for o in self.operands]
        return int(reference) if reference.isdigit() else names.index(reference)

    def dim(self, reference: str) -> int:
        """Index of the loop that an action names, by name or by number."""
        return int(reference) if reference.isdigit() else self.dims.index(reference)

    def _check(self, op: linalg.GenericOp) -> None:
        loops = len(op.get_iterator_types())
        if len(self.dims) != loops or len(self.operands) != len(op.operands):
            fail(op, f"accel_dims must name {loops} loops, accel_operands {len(op.operands)} operands")
        known = (*self.dims, *self.settings)
        for operand in self.operands:
            for dim in operand.dims:
                self._known(op, f"accel_operands: operand {operand.operand}", "dim", dim, known)
        inits = self.init.opcodes() if self.init else ()
        for name, _ in chain(self.flow.opcodes(), inits):
            self._known(op, "opcode_flow", "opcode", name, list(self.opcodes))
        names = [o.operand for o in self.operands]
        for name, actions in self.opcodes.items():
            for action in actions:
                if isinstance(action, Send | Recv):
                    self._known(op, f"opcode_map: {name}", "operand", action.operand, names)
                dims = [f.dim for f in action.fields] if isinstance(action, SendDim) else []
                for dim in [action.dim] if isinstance(action, SendIdx) else dims:
                    self._known(op, f"opcode_map: {name}", "dim", dim, known)

    def _known(self, op: linalg.GenericOp, place: str, what: str, name: str, known: Sequence[str]) -> None:
        if name in known or (name.isdigit() and int(name) < len(known)):
            return
        fail(op, f"{place}: unknown {what} `{name}`{hint(name, known)}; there are {', '.join(known)}")


def is_annotated(op: linalg.GenericOp) -> bool:
    """Somebody, perhaps by hand, wrote a part of the trait."""
    return any(name in op.attributes for name in (*REQUIRED, *OPTIONAL))


_T = TypeVar("_T", bound=Attribute)


def _get(op: linalg.GenericOp, name: str, kind: type[_T]) -> _T:
    value = op.attributes.get(name)
    if value is None:
        fail(op, f"its trait lacks {name}; it needs {', '.join(REQUIRED)}")
    if not isinstance(value, kind):
        fail(op, f"{name} must be #{kind.name}, not {value}")
    return value


def _list(op: linalg.GenericOp, name: str, kind: type[_T]) -> list[_T]:
    values = list(_get(op, name, ArrayAttr))
    if not all(isinstance(v, kind) for v in values):
        fail(op, f"{name} must be an array of #{kind.name}, not {ArrayAttr(values)}")
    return values


def _stream_width(op: linalg.GenericOp) -> int:
    if "stream_width" not in op.attributes:
        return WORD_BITS
    width = _get(op, "stream_width", IntegerAttr).value.data
    if width not in STREAM_WIDTHS:
        fail(op, f"stream_width must be one of {', '.join(map(str, STREAM_WIDTHS))}, not {width}")
    return int(width)


def _numbers(op: linalg.GenericOp, name: str) -> dict[str, int]:
    if name not in op.attributes:
        return {}
    values = _get(op, name, DictionaryAttr).data
    if not all(isinstance(value, IntegerAttr) for value in values.values()):
        fail(op, f"{name} must give each name an integer")
    return {key: value.value.data for key, value in values.items() if isinstance(value, IntegerAttr)}


def _names(op: linalg.GenericOp, name: str) -> dict[str, str]:
    if name not in op.attributes:
        return {}
    values = _get(op, name, DictionaryAttr).data
    if not all(isinstance(value, StringAttr) for value in values.values()):
        fail(op, f"{name} must give each name a name")
    return {key: value.data for key, value in values.items() if isinstance(value, StringAttr)}


def _tile(op: linalg.GenericOp, sizes: AffineMap) -> tuple[int, ...]:
    tile = tuple(e.value for e in sizes.results if isinstance(e, AffineConstantExpr))
    if len(tile) != len(sizes.results) or len(tile) != len(op.get_iterator_types()) or min(tile) < 1:
        fail(op, f"accel_dim must give each loop a positive tile size, not {sizes}")
    return tile


def _order(op: linalg.GenericOp, order: AffineMap) -> tuple[int, ...]:
    loops = tuple(e.position for e in order.results if isinstance(e, AffineDimExpr))
    if len(loops) != len(order.results) or len(set(loops)) != len(loops) or not loops:
        fail(op, f"permutation_map must permute the loops, not {order}")
    return loops
