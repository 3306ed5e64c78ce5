"""What a device does next, as numbers: each action of an opcode is a place.

At place 0 an opcode word is due. From an opcode's last action the device goes back there; where a word may
combine opcodes of one bit each, on to the next of them; without opcode words to the first action again.
"""

from __future__ import annotations

from dataclasses import dataclass

from axiloom.isa.contract.spec import AcceleratorSpec
from axiloom.isa.contract.types import SILENT, DeviceAction, HostAction, Opcode, Requantise, Store


@dataclass(frozen=True)
class Place:
    """One action of an opcode; `number` is what the state `place` holds when it is due."""

    number: int
    opcode: Opcode
    index: int
    following: int | None
    """The place after it; None: that of the next opcode which the word combines, if any."""
    left: int
    """Actions of the opcode from here on; it becomes less from step to step."""

    @property
    def action(self) -> DeviceAction:
        return self.opcode.device[self.index]

    @property
    def host(self) -> HostAction | None:
        """What the host does at this action."""
        return [host for _, host in self.opcode.steps()][self.index]

    @property
    def name(self) -> str:
        return f"{safe(self.opcode.name)}.{self.index}"


class Places:
    """All places of a specification.

    Attributes: `every`, in order, from number 1; `starts`, opcode words with their first places (0: the
    opcode does nothing); `bits`, in the order of execution, opcode words that may be combined with their
    first places; `reset`, where the device begins.
    """

    def __init__(self, spec: AcceleratorSpec) -> None:
        self.every: list[Place] = []
        self.starts: dict[int, tuple[Opcode, int]] = {}
        for opcode in spec.opcodes.values():
            first, steps = len(self.every) + 1, len(opcode.device)
            after: int | None = 0
            if opcode.literal is None:
                after = first
            elif opcode.name in spec.bits:
                after = None
            # From an end without opcode words it goes on to the first place that waits: that, too, is less.
            waits = next((i for i, action in enumerate(opcode.device, 1) if not runs(action)), 0)
            for index in range(steps):
                following = first + index + 1 if index + 1 < steps else after
                early = opcode.literal is None and index < waits
                left = waits - index if early else steps - index + (waits if opcode.literal is None else 0)
                self.every.append(Place(first + index, opcode, index, following, left))
            if opcode.literal is not None:
                self.starts[opcode.literal] = opcode, first if steps else 0
        literals = [spec.opcodes[name].literal or 0 for name in spec.bits]
        self.bits = [(literal, self.starts[literal][1]) for literal in literals]
        self.reset = 0 if self.starts else 1

    def of(self, *kinds: type[DeviceAction]) -> list[Place]:
        """Those whose action is of these kinds."""
        return [place for place in self.every if isinstance(place.action, kinds)]


def runs(action: DeviceAction) -> bool:
    """The device does it without a word from the host."""
    return isinstance(action, (*SILENT, Store, Requantise))


def safe(name: str) -> str:
    """The name of an opcode as that of an instruction."""
    return name.replace(" ", "_")
