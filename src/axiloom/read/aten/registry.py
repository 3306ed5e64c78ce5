"""Names of ATen operations to rules."""

from __future__ import annotations

from axiloom.read.aten import arithmetic, moves, network, recurrent, sums
from axiloom.read.aten.call import Rule

RULES: dict[str, Rule] = {
    name: rule
    for family in (arithmetic, moves, sums, network, recurrent)
    for name, rule in family.RULES.items()
}
