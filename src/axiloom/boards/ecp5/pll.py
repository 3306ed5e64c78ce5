"""Divisors of an ECP5's PLL with its output as feedback (Lattice FPGA-TN-02200, FPGA-DS-02012)."""

from __future__ import annotations

from dataclasses import dataclass

from axiloom.base.errors import UsageError

_DIVISORS = range(1, 129)
_PHASE_HZ = (10_000_000, 400_000_000)
"""Of the phase detector: the reference divided."""
_OSCILLATOR_HZ = (400_000_000, 800_000_000)


@dataclass(frozen=True)
class Pll:
    """A frequency and how it is made: the reference x `feedback` / `reference`.

    The oscillator runs at `output` times that."""

    frequency_hz: int
    reference: int
    feedback: int
    output: int

    @property
    def phase(self) -> int:
        """CLKOP_CPHASE for an edge in phase with the reference, as ecppll sets it."""
        return self.output // 2

    @property
    def oscillator_hz(self) -> int:
        return self.frequency_hz * self.output


def divisors(reference_hz: int, frequency_hz: int) -> Pll:
    """The divisors for exactly `frequency_hz`, those of the fastest phase detector first.

    Raises :exc:`UsageError` with the frequencies that have some if there are none.
    """
    for reference in _DIVISORS:
        detector = reference_hz // reference
        if (
            reference_hz % reference
            or not _PHASE_HZ[0] <= detector <= _PHASE_HZ[1]
            or frequency_hz % detector
        ):
            continue
        feedback = frequency_hz // detector
        outputs = [o for o in _DIVISORS if _OSCILLATOR_HZ[0] <= frequency_hz * o <= _OSCILLATOR_HZ[1]]
        if feedback in _DIVISORS and outputs:
            # In the middle of its range.
            middle = sum(_OSCILLATOR_HZ) // 2
            output = min(outputs, key=lambda o: abs(frequency_hz * o - middle))
            return Pll(frequency_hz, reference, feedback, output)
    raise UsageError(
        f"clock of {frequency_hz / 1e6:g} MHz: a PLL makes {reference_hz / 1e6:g} MHz x n or x n / 2, "
        "up to 400 MHz"
    )
