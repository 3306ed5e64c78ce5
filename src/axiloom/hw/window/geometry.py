"""Sizes of an engine that takes one window at a time, derived from its specification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amaranth.hdl import unsigned
from amaranth.lib import data
from amaranth.utils import bits_for

from axiloom.base.errors import SpecError
from axiloom.hw.array.operand_layout import OperandLayout
from axiloom.hw.engine.elements import unlike
from axiloom.hw.engine.receiver import Loaded, Protocol
from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.kernels.forms import WINDOW


@dataclass(frozen=True)
class WindowGeometry:
    """What :class:`~axiloom.hw.window.engine.WindowConv` builds. Made by :meth:`of`."""

    stream_width: int
    bits: int
    macs: int
    dims: Mapping[str, tuple[int, int]]
    """Bits and reset value of all that words set, and of the sizes of a window."""
    unit: tuple[str, ...]
    """Of these, those that are always 1."""
    tied: Mapping[str, str]
    image: OperandLayout
    filters: OperandLayout
    results: int
    """Results that can be saved."""

    @property
    def protocol(self) -> Protocol:
        """What the receiver must know."""
        window = Loaded(self.stream_width, ("ic", "fh", "fw"))
        return Protocol(
            stream_width=self.stream_width,
            dims=self.dims,
            operands={"I": window, "F": window},
            result="O",
            result_dims=(),
            tied=self.tied,
            saves=True,
        )

    @property
    def longest(self) -> int:
        """Elements of the largest window, in whole beats."""
        return min(layout.depth * layout.banks * layout.per_word for layout in (self.image, self.filters))

    @property
    def command_dims(self) -> data.StructLayout:
        """Of a window: index of the last group of `macs` elements, and of the last lane in it."""
        groups = -(-self.longest // self.macs)
        return data.StructLayout(
            {"last_group": unsigned(bits_for(groups - 1)), "last_lane": unsigned(bits_for(self.macs) - 1)}
        )

    @classmethod
    def of(cls, spec: AcceleratorSpec) -> WindowGeometry:
        """Sizes for `spec`; raises :exc:`SpecError` with all reasons why there is no such engine."""
        faults = _faults(spec)
        if faults:
            raise SpecError(faults)
        reset = spec.sizes()
        dims = {name: (bits_for(highest), reset[name]) for name, highest in spec.form.highest.items()}
        unit = tuple(name for name in spec.form.unit if spec.sets(name))

        def layout(operand: str) -> OperandLayout:
            bits, width = spec.data_type.bits, spec.link.stream_width
            banks = max(1, spec.macs * bits // width)
            beats = spec.buffers[operand] // spec.link.beat_words
            return OperandLayout(operand, bits, spec.macs, False, width, banks, -(-beats // banks))

        return cls(
            stream_width=spec.link.stream_width,
            bits=spec.data_type.bits,
            macs=spec.macs,
            dims=dims | dict.fromkeys(unit, (1, 1)),
            unit=unit,
            tied=spec.tied,
            image=layout("I"),
            filters=layout("F"),
            results=spec.buffers["O"],
        )


def _faults(spec: AcceleratorSpec) -> list[str]:
    if spec.form != WINDOW:
        got = ", ".join(f"{operand} [{', '.join(dims)}]" for operand, dims in spec.data.items())
        return [f'window conv must execute "{WINDOW.kernel}" on windows, not "{spec.kernel}" with {got}']
    faults = [*unlike(spec, "window conv")]
    if spec.macs < 1 or spec.macs & (spec.macs - 1):
        faults.append(f"window conv macs must be a power of two, not {spec.macs}")
    granule = spec.tile.granule or spec.tile.size
    if any(unit != 1 for unit in granule):
        faults.append(f"window conv takes any tile, so its granule must be all 1, not {list(granule)}")
    if spec.post:
        faults.append("window conv has no post-processing")
    for operand, least in {"I": spec.link.beat_words, "F": spec.link.beat_words, "O": 1}.items():
        words = spec.buffers.get(operand, 0)
        if words < least:
            faults.append(f"window conv buffer {operand} must hold at least {least} words, not {words}")
    return faults
