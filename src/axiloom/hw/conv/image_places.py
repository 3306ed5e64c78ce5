"""How an image tile lies in the banks of :class:`axiloom.hw.conv.image_buffer.WindowBuffer`, and the way from
element to element while it is loaded at a stride sw above 1.

Columns that no tap reads are dropped by the device, not by the driver. Rows could be left out by
descriptors, but three dims are one too many for them: each channel would be a descriptor, or the CPU
would copy. The stream has time for the whole image; the window buffer had not, as it stored two elements
a cycle. Now it stores each second element of a beat. So the image's layout depends on the filters and the
padding, and a compute under others is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

from amaranth.hdl import Module, Mux, Signal, signed, unsigned
from amaranth.lib import data
from amaranth.utils import bits_for


@dataclass(frozen=True)
class ImageLayout:
    """How an image tile lies in its banks, and how wide the numbers about it are."""

    bits: int
    """Width of an element."""
    cols: int
    """Banks, and pixels that are read at once; a power of two."""
    stream_width: int
    depth: int
    """Words of a bank, for one ping-pong half."""
    size_bits: int = 11
    """Of ic, ih, iw, oh and ow."""
    taps_bits: int = 5
    """Of fh and fw."""
    step_bits: int = 4
    """Of strides and dilations."""
    pad_bits: int = 8

    @property
    def per_beat(self) -> int:
        return self.stream_width // self.bits

    @property
    def at_once(self) -> int:
        """Elements stored in a cycle where neighbours lie in neighbouring slots."""
        return min(self.per_beat, self.cols)

    @property
    def skips(self) -> bool:
        """At stride 2, columns that no tap reads can be left out while loading: see `tile`."""
        return self.at_once > 1

    @property
    def splits(self) -> bool:
        """At stride 2, the even columns of an image of even width can lie apart from the odd ones."""
        return self.at_once > 2

    @property
    def odd_slots(self) -> int:
        """Where the odd columns of an image begin that is split. A half of all slots is enough for either,
        and whole groups of what is stored in a cycle."""
        return self.slots // 2

    @property
    def slots(self) -> int:
        return self.depth * self.cols

    @property
    def slot_bits(self) -> int:
        return bits_for(self.slots - 1)

    @property
    def column_bits(self) -> int:
        """Of a signed x // sw: as far left as the padding reaches, and right of the last output."""
        rightmost = (1 << self.size_bits) + self.cols + (1 << self.taps_bits + self.step_bits)
        return 1 + bits_for(rightmost)

    @property
    def row_bits(self) -> int:
        """Of a signed y: the last output's row, far below the image, or in the padding above."""
        return 1 + bits_for((1 << self.size_bits + self.step_bits) + (1 << self.taps_bits + self.step_bits))

    @property
    def tile(self) -> data.StructLayout:
        """What a load must know: number of elements, iw = `whole` x `sw` + `rest`. Where it `skips`
        or `splits`, sw is 1 and iw is even. If it skips, only each second element of a row is stored: the
        `odd` or the even ones."""
        return data.StructLayout(
            {
                "elements": unsigned(bits_for(self.slots)),
                "iw": unsigned(self.size_bits),
                "sw": unsigned(self.step_bits),
                "whole": unsigned(self.size_bits),
                "rest": unsigned(self.step_bits),
                "skips": unsigned(1),
                "splits": unsigned(1),
                "odd": unsigned(1),
            }
        )

    @property
    def walk(self) -> data.StructLayout:
        """What reading must know. Slots are counted modulo their number."""
        return data.StructLayout(
            {
                "last_c": unsigned(self.size_bits),
                "last_fh": unsigned(self.taps_bits),
                "last_fw": unsigned(self.taps_bits),
                "last_block": unsigned(self.size_bits),  # of a row of outputs
                "ih": unsigned(self.size_bits),
                "y": signed(self.pad_bits + 1),  # of the first tap at the first output
                "sh": unsigned(self.step_bits),
                "dh": unsigned(self.step_bits),
                "base": unsigned(self.slot_bits),  # y rows
                "row_step": unsigned(self.slot_bits),  # sh rows
                "tap_step": unsigned(self.slot_bits),  # dh rows
                "channel_step": unsigned(self.slot_bits),  # ih rows
                "sw": unsigned(self.step_bits),
                "splits": unsigned(1),
                "whole": unsigned(self.size_bits),  # iw // sw
                "rest": unsigned(self.step_bits),  # iw % sw
                "column": signed(self.pad_bits + 1),  # x // sw of the first tap at the first output
                "phase": unsigned(self.step_bits),  # x % sw of it
                "column_step": unsigned(self.step_bits),  # dw // sw
                "phase_step": unsigned(self.step_bits),  # dw % sw
            }
        )


def place_layout(layout: ImageLayout) -> data.StructLayout:
    """Of an element that is loaded: how many are to the right of it, x % sw, its slot, that of x // sw in
    phase 0, the first of its row; whether the row ends with it or with the next one, whether x % sw begins
    anew behind it or behind the next one, and whether its phase, or the one above, has one slot more."""
    slot = unsigned(layout.slot_bits)
    return data.StructLayout(
        {
            "right": unsigned(layout.size_bits),
            "phase": unsigned(layout.step_bits),
            "slot": slot,
            "in_phase_0": slot,
            "row": slot,
            "row_ends": 1,
            "row_ends_next": 1,
            "turns": 1,
            "turns_next": 1,
            "long": 1,
            "long_next": 1,
        }
    )


def place_sizes(m: Module, layout: ImageLayout, tile: data.View) -> SimpleNamespace:
    """What the steps from element to element must know of a tile, in registers."""
    slot = layout.slot_bits
    first_jump = tile.whole + (tile.rest != 0)
    numbers = {
        "last_x": (layout.size_bits, tile.iw - 1),
        "before_last_x": (layout.size_bits, tile.iw - 2),
        "row": (slot, tile.iw),
        "two_rows": (slot, tile.iw << 1),
        "row_and_jump": (slot, tile.iw + first_jump),
        "column_and_jump": (slot, first_jump + 1),
        "jump": (slot, tile.whole),
        "long_jump": (slot, tile.whole + 1),
        "two_jumps": (slot, tile.whole << 1),
        "jumps_1": (slot, (tile.whole << 1) + 1),
        "jumps_2": (slot, (tile.whole << 1) + 2),
        "rest": (layout.step_bits, tile.rest),
        **{f"wide_{n}": (1, tile.iw == n) for n in (1, 2, 3)},
        **{f"sw_{n}": (1, tile.sw == n) for n in (2, 3)},
        **{f"above_{n}": (1, tile.rest > n) for n in range(3)},
        "before_turn": (layout.step_bits, tile.sw - 3),
        "two_before_turn": (layout.step_bits, tile.sw - 4),
    }
    registers = {name: Signal(bits, name=f"of_{name}") for name, (bits, _) in numbers.items()}
    m.d.sync += [registers[name].eq(value) for name, (_, value) in numbers.items()]
    first = Signal(place_layout(layout), name="first_place")
    m.d.comb += [
        first.right.eq(registers["last_x"]),
        first.row_ends.eq(registers["wide_1"]),
        first.row_ends_next.eq(registers["wide_2"]),
        first.turns_next.eq(registers["sw_2"]),
        first.long.eq(registers["above_0"]),
        first.long_next.eq(registers["above_1"]),
    ]
    return SimpleNamespace(first=first, **registers)


def one_step(m: Module, at: data.View, of: SimpleNamespace) -> data.View:
    """The place of the element behind the one `at`, where sw is not 1."""
    place = Signal(at.shape(), name="behind")
    anew = at.row_ends | at.turns
    row = at.row + of.row
    m.d.comb += [
        place.right.eq(Mux(at.row_ends, of.last_x, at.right - 1)),
        place.row_ends.eq(Mux(at.row_ends, of.wide_1, at.row_ends_next)),
        place.row_ends_next.eq(Mux(at.row_ends, of.wide_2, at.right == 2)),
        place.phase.eq(Mux(anew, 0, at.phase + 1)),
        place.turns.eq(~anew & at.turns_next),
        place.turns_next.eq(Mux(anew, of.sw_2, at.phase == of.before_turn)),
        place.long.eq(Mux(anew, of.above_0, at.long_next)),
        place.long_next.eq(Mux(anew, of.above_1, at.phase + 2 < of.rest)),
        place.row.eq(Mux(at.row_ends, row, at.row)),
        place.in_phase_0.eq(Mux(at.row_ends, row, at.in_phase_0 + at.turns)),
        place.slot.eq(
            Mux(at.row_ends, at.row, Mux(at.turns, at.in_phase_0, at.slot))
            + Mux(at.row_ends, of.row, Mux(at.turns, 1, Mux(at.long, of.long_jump, of.jump)))
        ),
    ]
    return place


def two_steps(m: Module, at: data.View, of: SimpleNamespace) -> data.View:
    """The place behind the one behind `at`: not two steps in a row, which would take twice as long."""
    place = Signal(at.shape(), name="two_behind")
    anew = at.row_ends | at.turns
    then_row = Mux(at.row_ends, of.wide_1, at.row_ends_next)
    then_turns = ~anew & at.turns_next
    then_anew = then_row | then_turns
    any_row = at.row_ends | then_row
    rows = Mux(at.row_ends & then_row, of.two_rows, of.row)
    row = at.row + rows
    # What is above a phase has an element more only if it has itself.
    jumps = Mux(at.long_next, of.jumps_2, Mux(at.long, of.jumps_1, of.two_jumps))
    m.d.comb += [
        place.right.eq(Mux(then_row, of.last_x, Mux(at.row_ends, of.before_last_x, at.right - 2))),
        place.row_ends.eq(Mux(then_row, of.wide_1, Mux(at.row_ends, of.wide_2, at.right == 2))),
        place.row_ends_next.eq(Mux(then_row, of.wide_2, Mux(at.row_ends, of.wide_3, at.right == 3))),
        place.phase.eq(Mux(then_anew, 0, Mux(anew, 1, at.phase + 2))),
        place.turns.eq(~then_anew & Mux(anew, of.sw_2, at.phase == of.before_turn)),
        place.turns_next.eq(Mux(then_anew, of.sw_2, Mux(anew, of.sw_3, at.phase == of.two_before_turn))),
        place.long.eq(Mux(then_anew, of.above_0, Mux(anew, of.above_1, at.phase + 2 < of.rest))),
        place.long_next.eq(Mux(then_anew, of.above_1, Mux(anew, of.above_2, at.phase + 3 < of.rest))),
        place.row.eq(Mux(any_row, row, at.row)),
        place.in_phase_0.eq(Mux(any_row, row, at.in_phase_0 + (at.turns | then_turns))),
    ]
    base, jump = Signal.like(place.slot, name="two_base"), Signal.like(place.slot, name="two_jump")
    with m.If(then_row):
        m.d.comb += [base.eq(at.row), jump.eq(rows)]
    with m.Elif(at.row_ends):
        m.d.comb += [base.eq(at.row), jump.eq(of.row_and_jump)]
    with m.Elif(at.turns):
        m.d.comb += [base.eq(at.in_phase_0), jump.eq(of.column_and_jump)]
    with m.Elif(then_turns):
        m.d.comb += [base.eq(at.in_phase_0), jump.eq(1)]
    with m.Else():
        m.d.comb += [base.eq(at.slot), jump.eq(jumps)]
    m.d.comb += place.slot.eq(base + jump)
    return place
