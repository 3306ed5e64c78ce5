"""`Limits`: what a design may take."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace

from axiloom.base.errors import UsageError
from axiloom.nests.resources import Amount

MARGIN = 0.9
"""Of a part's LUTs and flip-flops: the forecast is within a tenth of Yosys, and a full part is not routed."""

PARTS = {
    "xc7z010": Amount(80, 17_600, 35_200, 60),
    "xc7z020": Amount(220, 53_200, 106_400, 140),
    "xczu7ev": Amount(1_728, 230_400, 460_800, 312),
    "xck26": Amount(1_248, 117_120, 234_240, 144),
}
"""As ``boards/synthesis/resources.py``, which has their documents; a test compares the two."""


@dataclass(frozen=True)
class Limits:
    """`amount`: of everything but the caller's arrays. `lanes`: multiply-adds a cycle, all pipes together."""

    amount: Amount
    lanes: int = 128

    @classmethod
    def of(cls, device: str = "xc7z020", budget: str = "", lanes: int | None = None) -> Limits:
        """``Limits.of("xc7z020", "dsp=140,lut=25000")``. What the budget does not name is the part's, LUTs
        and flip-flops with a margin. Raises UsageError."""
        if device not in PARTS:
            raise UsageError(f"no part {device!r}; there are {', '.join(PARTS)}")
        part = PARTS[device]
        amount = replace(part, lut=int(part.lut * MARGIN), ff=int(part.ff * MARGIN))
        names = [field.name for field in fields(Amount)]
        for word in filter(None, budget.split(",")):
            match = re.fullmatch(r"\s*(\w+)=(\d+)\s*", word)
            if not match or match[1] not in names:
                raise UsageError(f"budget {word!r}: write NAME=NUMBER, with a name of {', '.join(names)}")
            amount = replace(amount, **{match[1]: int(match[2])})
        return cls(amount) if lanes is None else cls(amount, lanes)

    def __str__(self) -> str:
        amounts = ", ".join(f"{getattr(self.amount, f.name):,} {f.name.upper()}" for f in fields(Amount))
        return f"{amounts}, {self.lanes} lanes"
