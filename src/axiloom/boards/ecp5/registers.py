"""Registers around an ECP5's multipliers become those within, without wires before and behind the product.

Yosys leaves them in slices. A multiplier has registers on both sides or on none, as only so nextpnr knows
when what goes in must be there and what comes out is.

Registers around a multiplier move into it, on both sides or on none. Yosys leaves them in slices. Then
cells took 4.5 of 10 ns, and where the placer found no room beside a multiplier, the wires took more than
the rest. If a register has other ends too, such as an operand that goes on to the next row, the register
exists twice. nextpnr then takes 0.74 ns from clock to product.
"""

from __future__ import annotations

from typing import Any

from axiloom.boards.ecp5.nets import Nets

MULTIPLIER, REGISTER = "MULT18X18D", "TRELLIS_FF"
IN_MULTIPLIER = "REG_INPUTA_CLK"
"""A parameter that a multiplier has if its registers are within."""

_FACTORS = [f"{factor}{bit}" for factor in "AB" for bit in range(18)]
_PRODUCT = [f"P{bit}" for bit in range(36)]
_PLAIN = {"CEMUX": "1", "CLKMUX": "CLK", "REGSET": "RESET"}
_WITHIN = {
    f"REG_{where}_{what}": f"{what}0"
    for where in ("INPUTA", "INPUTB", "OUTPUT")
    for what in ("CLK", "CE", "RST")
}


def absorb_registers(design: dict[str, Any]) -> list[str]:
    """Changes `design`, as Yosys' ``write_json`` prints a flat one; returns names of registers that are gone.

    A multiplier takes its registers if all bits of its factors come from registers without enable and reset,
    and all bits of its product that anybody reads go to one each. A register of a factor that has other ends
    stays for them.
    """
    nets = Nets(design)
    cells, outside, drivers, ends = nets.cells, nets.outside, nets.drivers, nets.ends
    products: list[str] = []
    factors: dict[str, int] = {}  # registers, with what they drive
    for cell in cells.values():
        if cell["type"] != MULTIPLIER:
            continue
        connections = cell["connections"]
        bits = {connections[port][0] for port in _FACTORS}
        before = {bit: drivers.get(bit, "") for bit in bits if not isinstance(bit, str)}
        after: dict[str, str] = {}
        for port in _PRODUCT:
            (bit,) = connections[port]
            if nets.used(bit):
                after[port] = nets.only_end(bit, "DI")
        registers = [*before.values(), *after.values()]
        if not before or not after or not all(is_plain(cells.get(register)) for register in registers):
            continue
        clocks = {cells[register]["connections"]["CLK"][0] for register in registers}
        # A register between two multipliers can be in one of them only.
        if (
            len(clocks) > 1
            or {*before.values()} & {*products, *after.values()}
            or {*after.values()} & {*factors}
        ):
            continue
        for port in _FACTORS:
            (bit,) = connections[port]
            if bit in before:
                connections[port] = cells[before[bit]]["connections"]["DI"]
        for port, register in after.items():
            connections[port] = cells[register]["connections"]["Q"]
        connections |= {"CLK0": list(clocks), "CE0": ["1"], "RST0": ["0"]}
        cell["port_directions"] |= dict.fromkeys(("CLK0", "CE0", "RST0"), "input")
        cell["parameters"] |= _WITHIN | {"GSR": "DISABLED"}
        products += after.values()
        factors |= {register: bit for bit, register in before.items()}

    def within(end: str) -> bool:
        return cells[end]["type"] == MULTIPLIER and IN_MULTIPLIER in cells[end]["parameters"]

    unused = [
        register
        for register, bit in factors.items()
        if bit not in outside and all(within(end) for end, _ in ends[bit])
    ]
    for register in (*products, *unused):
        del cells[register]
    return products + unused


def is_plain(cell: dict[str, Any] | None, *, enabled: bool = False) -> bool:
    """Whether it is a register that starts at 0 and takes its input each cycle, or while `enabled`."""
    if cell is None or cell["type"] != REGISTER or cell["connections"].get("LSR", ["0"]) != ["0"]:
        return False
    plain = _PLAIN | (
        {"CEMUX": "CE"} if enabled and cell["parameters"].get("CEMUX", "").strip() == "CE" else {}
    )
    return all(cell["parameters"].get(name, "").strip() == value for name, value in plain.items())
