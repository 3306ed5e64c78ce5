"""`Verdict`: in which sense a program is its application."""

from __future__ import annotations

from dataclasses import dataclass

from axiloom.selection.validate.numbers import Compared


@dataclass(frozen=True)
class Verdict:
    """`exact`: the same functions of the same elements, for all inputs; else the same in real numbers, or, if
    `sampled`, on some inputs alone."""

    exact: bool
    numbers: Compared
    seconds: float
    sampled: bool = False

    def __str__(self) -> str:
        if self.sampled:
            return "too large for a proof; by the text, bit for bit on random inputs and at edges"
        sense = "proved equal for all inputs" if self.exact else "proved equal in real numbers for all inputs"
        if self.numbers.equal:
            seen = "bit-identical on random ones and at edges"
        else:
            most = f"{self.numbers.allowed:.3g} allowed"
            seen = f"within {self.numbers.difference:.3g} on random ones and at edges ({most})"
        return f"{sense}, {seen}"
