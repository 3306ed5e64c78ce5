"""The design that goes onto a ULX3S: its Verilog, its pins, and how fast its serial line is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Template

from axiloom.base.errors import SpecError, UsageError
from axiloom.boards import hardware
from axiloom.boards.ecp5.pll import Pll, divisors
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa import AcceleratorSpec

NAME = "ulx3s"
TOP = "axiloom_ulx3s"
CRYSTAL_HZ = 25_000_000
BAUDS = (3_000_000, 2_000_000, 1_500_000, 1_000_000)
"""What the FT231X on the board makes exactly and Linux has names for, the fastest first."""
TOLERANCE = 0.025
"""Of a bit's length: a quarter of a bit at the stop bit, of the half that is there."""

_FOLDER = Path(__file__).parent / NAME


@dataclass(frozen=True)
class Design:
    """`spec` on the board at `clock_hz`. Raises :exc:`SpecError` or :exc:`UsageError` for what cannot be."""

    spec: AcceleratorSpec
    clock_hz: int = 0
    """0: the board's own."""
    user_rtl: UserRtl | None = None
    """In the accelerator's place."""

    def __post_init__(self) -> None:
        from axiloom.hw.serial.soc import check  # Amaranth: others want the board's name alone

        faults = check(self.spec.link)
        if faults:
            raise SpecError(faults)
        if not self.clock_hz:
            object.__setattr__(self, "clock_hz", hardware.load(NAME).fabric_hz)
        # Both raise what is wrong with the clock.
        _ = self.pll, self.line

    @cached_property
    def pll(self) -> Pll:
        return divisors(CRYSTAL_HZ, self.clock_hz)

    @cached_property
    def line(self) -> tuple[int, int]:
        """Bits a second of the serial line, and cycles a bit."""
        for baud in BAUDS:
            divisor = round(self.clock_hz / baud)
            if divisor >= 4 and abs(divisor * baud / self.clock_hz - 1) <= TOLERANCE:
                return baud, divisor
        raise UsageError(
            f"clock of {self.clock_hz / 1e6:g} MHz: no speed of the serial line "
            f"({', '.join(map(str, BAUDS))} baud) is within {TOLERANCE:.0%} of a whole number of cycles a bit"
        )

    @property
    def baud(self) -> int:
        return self.line[0]

    @property
    def divisor(self) -> int:
        return self.line[1]

    @cached_property
    def sources(self) -> tuple[tuple[str, str], ...]:
        """Name and text of each Verilog file."""
        rtl = self.user_rtl
        keep = {rtl.top, *(port.name for port in rtl.ports)} if rtl else set()
        from axiloom.hw.serial.soc import SerialSoc
        from axiloom.hw.verilog import emit as verilog

        serial_soc = SerialSoc(self.spec, self.divisor, self.clock_hz, rtl)
        soc = verilog.convert(serial_soc, "axiloom_serial", keep)
        top = Template((_FOLDER / "top.v.in").read_text(encoding="utf-8")).substitute(
            clock_mhz=f"{self.clock_hz / 1e6:g}",
            oscillator_mhz=f"{self.pll.oscillator_hz / 1e6:g}",
            reference=self.pll.reference,
            feedback=self.pll.feedback,
            output=self.pll.output,
            phase=self.pll.phase,
        )
        banner = verilog.banner((self.spec,), rtl)
        own = ((file.name, file.read_text(encoding="utf-8")) for file in (rtl.files if rtl else ()))
        return (f"{TOP}.v", banner + top), ("axiloom_serial.v", banner + soc), *own

    @property
    def pins(self) -> str:
        """The constraints, as nextpnr reads them."""
        return (_FOLDER / "pins.lpf").read_text(encoding="utf-8")
