"""Elements of arrays, as MLIR types: how wide they are, and what the runtime calls them."""

from __future__ import annotations

from xdsl.dialects.builtin import Float32Type, IntegerType, MemRefType, Signedness
from xdsl.ir import Attribute

SENT = ("i8", "u8", "i16", "i32", "f32")
"""What the runtime sends: names at the end of its functions, as in ``dma_put_tile_i8``."""
ADDED = ("i32", "f32")
"""What it adds to what is there."""


def suffix(element: Attribute) -> str | None:
    """What functions of the runtime for such elements end with; None where there are none."""
    if isinstance(element, Float32Type):
        return "f32"
    if not isinstance(element, IntegerType):
        return None
    name = f"{'u' if element.signedness.data == Signedness.UNSIGNED else 'i'}{element.width.data}"
    return name if name in SENT else None


def named(array: Attribute) -> str:
    """The same for the elements of an array that is sent or received."""
    assert isinstance(array, MemRefType)
    name = suffix(array.element_type)
    assert name is not None
    return name


def width(element: Attribute) -> int:
    """Bits of an element that is sent or received."""
    assert isinstance(element, IntegerType | Float32Type)
    return 32 if isinstance(element, Float32Type) else int(element.width.data)


def element_bits(array: Attribute) -> int:
    """The same for the elements of an array."""
    assert isinstance(array, MemRefType)
    return width(array.element_type)
