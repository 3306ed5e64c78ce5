"""Sizes of a convolution engine, derived from its specification: array, banks, depths, widths.

The dims of a device's I decide its form. (ic, ih, iw) is an image tile (conv_v4), (ic, fh, fw) is a
window (conv_v3). A tile has the whole filter, so the host loops over oc, oh, ow and ic. A word of a
convolution sets a few sizes. The device checks each word alone, and checks a capacity when it is used. F
and O take whole blocks of the array, and I is laid out by its horizontal stride.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amaranth.hdl import Value, unsigned
from amaranth.lib import data
from amaranth.utils import bits_for, exact_log2

from axiloom.base.errors import SpecError
from axiloom.hw.array.operand_layout import OperandLayout
from axiloom.hw.array.parameter_buffer import CHANNEL_BITS
from axiloom.hw.conv.image_places import ImageLayout
from axiloom.hw.engine.elements import unlike
from axiloom.hw.engine.receiver import Loaded, Protocol
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import WORD_BITS
from axiloom.isa.kernels.forms import CHANNEL_WORDS, CHANNELS, IMAGE
from axiloom.isa.numerics import INT8

BYTE = INT8.bits


@dataclass(frozen=True)
class ConvGeometry:
    """What :class:`~axiloom.hw.conv.engine.Conv` builds. Made by :meth:`of`.

    The array has `rows` output channels and `cols` neighbouring pixels of one row of outputs; a k is an input
    channel and a tap of the filter.
    """

    stream_width: int
    rows: int
    cols: int
    dims: Mapping[str, tuple[int, int]]
    """Bits and reset value of all that words set."""
    image: ImageLayout
    filters: OperandLayout
    o_depth: int
    """Rows of `cols` words in one ping-pong half of the result buffer; whole blocks."""
    elements: int
    """Elements of the largest image."""
    positive: tuple[str, ...]
    """Dims that must not be zero."""
    channels: int
    """Whose parameters the buffer of P holds; 0 without post-processing."""

    @property
    def post(self) -> bool:
        """O can go out requantised."""
        return self.channels > 0

    @property
    def bounds(self) -> tuple[str, ...]:
        """Settings of post-processing."""
        return ("zp", "lo", "hi") if self.channels else ()

    @property
    def protocol(self) -> Protocol:
        """What the receiver must know."""
        return Protocol(
            stream_width=self.stream_width,
            dims=self.dims,
            operands={
                "I": Loaded(self.stream_width, ("ic", "ih", "iw", *IMAGE.laid["I"])),
                "F": Loaded(self.stream_width, ("oc", "ic", "fh", "fw")),
            },
            result="O",
            result_dims=("oc", "oh", "ow"),
            parameters=Loaded(self.p_width, ("oc",), ragged=True) if self.channels else None,
            bytes=self.bounds,
        )

    @property
    def p_width(self) -> int:
        """Bits that the buffer of P takes at once."""
        return min(self.stream_width, CHANNEL_BITS)

    @property
    def lanes(self) -> int:
        """Words that are sent in a cycle: of a beat of words, or of the array, if that is less."""
        return min(self.stream_width // WORD_BITS, self.cols)

    @property
    def p_lanes(self) -> int:
        """Elements that are requantised in a cycle: of a beat of bytes, or of the array, if that is less;
        without post-processing, as many as are sent."""
        return min(self.stream_width // BYTE, self.cols) if self.post else self.lanes

    @property
    def operands(self) -> tuple[str, str]:
        return "F", "I"

    @property
    def most(self) -> tuple[int, int, int]:
        """The most blocks of rows and of columns, and the longest k, of any tile."""
        blocks = self.o_depth // self.rows
        return blocks, blocks, self.filters.depth * self.filters.per_word

    @property
    def command_dims(self) -> data.StructLayout:
        """What computing and sending must know; then, which half of P it has."""
        blocks, _, k = self.most
        return data.StructLayout(
            {
                "last_m": unsigned(bits_for(blocks - 1)),  # block of channels
                "last_n": unsigned(bits_for(blocks - 1)),  # block of pixels
                "last_k": unsigned(bits_for(k - 1)),
                "last_row": unsigned(bits_for(self.rows - 1)),  # of the array, that has a channel
                "walk": self.image.walk,
                "last_oc": unsigned(self.dims["oc"][0]),
                "last_lane": unsigned(exact_log2(self.cols)),  # in the last block of a row of outputs
                **{name: unsigned(BYTE) for name in self.bounds},
                **({"half_p": unsigned(1)} if self.channels else {}),
            }
        )

    def work(self, dims: data.View) -> tuple[Value, Value, Value]:
        """Index of the last block of rows, of the last block of columns, and of the last k."""
        return dims.last_m, dims.last_n, dims.last_k

    def last_row(self, dims: data.View) -> Value:
        """Of the array, the last row that any block uses: all, unless there are fewer channels."""
        return dims.last_row

    @classmethod
    def of(cls, spec: AcceleratorSpec) -> ConvGeometry:
        """Sizes for `spec`; raises :exc:`SpecError` with all reasons why there is no such engine."""
        faults = _faults(spec)
        if faults:
            raise SpecError(faults)
        rows, cols = spec.array
        bits, beat = spec.data_type.bits, spec.link.beat_words
        highest, reset = spec.form.highest, spec.sizes()
        dims = {name: (bits_for(highest[name]), reset[name]) for name in IMAGE.highest}
        if spec.post:
            dims |= {
                setting.name: (BYTE, setting.reset & 0xFF) for setting in spec.settings if setting.signed
            }
        elements = spec.buffers["I"] // beat * spec.link.stream_width // bits
        layout = ImageLayout(
            bits,
            cols,
            spec.link.stream_width,
            -(-elements // cols),
            size_bits=bits_for(max(highest[name] for name in spec.dims)),
            taps_bits=dims["fw"][0],
            step_bits=dims["sw"][0],
            pad_bits=dims["pl"][0],
        )
        return cls(
            stream_width=spec.link.stream_width,
            rows=rows,
            cols=cols,
            dims=dims,
            image=layout,
            filters=OperandLayout(
                "F",
                bits,
                rows,
                True,
                spec.link.stream_width,
                rows,
                spec.buffers["F"] // beat // rows,
                ragged=True,
            ),
            o_depth=spec.buffers["O"] // spec.macs * rows,
            elements=elements,
            positive=(*spec.dims, *(setting.name for setting in spec.settings if setting.lowest == 1)),
            channels=spec.buffers[CHANNELS] // beat * beat // CHANNEL_WORDS if spec.post else 0,
        )


def _faults(spec: AcceleratorSpec) -> list[str]:
    if spec.form != IMAGE:
        got = ", ".join(f"{operand} [{', '.join(dims)}]" for operand, dims in spec.data.items())
        return [f'conv must execute "{IMAGE.kernel}" on image tiles, not "{spec.kernel}" with {got}']
    faults = [*unlike(spec, "conv")]
    if spec.macs < 1 or spec.macs & (spec.macs - 1):
        return [*faults, f"conv macs must be a power of two, not {spec.macs}"]
    granule = spec.tile.granule or spec.tile.size
    if any(unit != 1 for unit in granule):
        faults.append(f"conv takes any tile, so its granule must be all 1, not {list(granule)}")
    rows, _ = spec.array
    for operand, least in {
        "I": spec.link.beat_words,
        "F": rows * spec.link.beat_words,
        "O": spec.macs,
    }.items():
        words = spec.buffers.get(operand, 0)
        if words < least:
            faults.append(f"conv buffer {operand} must hold at least {least} words, not {words}")
    if spec.post and spec.buffers.get(CHANNELS, 0) < max(CHANNEL_WORDS, spec.link.beat_words):
        least = max(CHANNEL_WORDS, spec.link.beat_words)
        faults.append(f"conv buffer P must hold at least {least} words, not {spec.buffers.get(CHANNELS, 0)}")
    return faults
