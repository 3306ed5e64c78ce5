"""What is proved of Axiloom's own modules: each port's rules, and the helpers that a proof takes.

A target is an entry of a room's ``TARGETS``. What it assumes beyond the rules of AXI is an
:class:`~axiloom.prove.axi.ours.target.Agreement`, which names who keeps it.

- :mod:`~axiloom.prove.axi.ours.target`: a target, and agreements between neighbours
- :mod:`~axiloom.prove.axi.ours.agreements`: those of the parts of a DMA
- :mod:`~axiloom.prove.axi.ours.streams`: streams
- :mod:`~axiloom.prove.axi.ours.registers`: the port of the registers, and its decoder
- :mod:`~axiloom.prove.axi.ours.writing`: S2MM
- :mod:`~axiloom.prove.axi.ours.descriptors`: scatter-gather
- :mod:`~axiloom.prove.axi.ours.reading`: MM2S
- :mod:`~axiloom.prove.axi.ours.whole`: both DMAs, and who proves which of their ports
- :mod:`~axiloom.prove.axi.ours.interconnect`: several DMAs on one port to memory
- :mod:`~axiloom.prove.axi.ours.turns`: why everybody's turn comes there
- :mod:`~axiloom.prove.axi.ours.engines`: what drives the engines' output streams
- :mod:`~axiloom.prove.axi.ours.serial`: the bridge from a serial line, and memory behind it
"""

from __future__ import annotations

from collections.abc import Iterable

from axiloom.base.errors import UsageError
from axiloom.base.wording.names import hint
from axiloom.prove.axi.ours import (
    descriptors,
    engines,
    interconnect,
    reading,
    registers,
    serial,
    streams,
    whole,
    writing,
)
from axiloom.prove.axi.ours.target import Target

TARGETS: dict[str, Target] = {
    **streams.TARGETS,
    **registers.TARGETS,
    **reading.TARGETS,
    **writing.TARGETS,
    **descriptors.TARGETS,
    **whole.TARGETS,
    **interconnect.TARGETS,
    **engines.TARGETS,
    **serial.TARGETS,
}


def chosen(names: Iterable[str]) -> list[str]:
    """The targets of these names, or all. Raises UsageError for a name that is none."""
    asked = list(names) or list(TARGETS)
    for name in asked:
        if name not in TARGETS:
            raise UsageError(
                f"prove axi: no module `{name}`{hint(name, TARGETS)}; there are {', '.join(TARGETS)}"
            )
    return asked
