"""Ports by rules, as a table."""

from __future__ import annotations

from axiloom.prove.axi.matrix import matrix
from axiloom.prove.verdict import Answer, Verdict


def verdict(port: str, name: str, answer: Answer = Answer.HOLDS, bound: int | None = None) -> Verdict:
    return Verdict("part", port, name, "", "A3" if port == "bus" else "", answer, bound, "pdr", 1.0)


def test_a_cell_is_the_weakest_of_its_verdicts() -> None:
    verdicts = [
        verdict("bus", "ar_held"),
        verdict("bus", "aw_held", bound=40),
        verdict("bus", "ar_4k"),
        verdict("bus", "w_last", Answer.VIOLATED, 3),
        verdict("bus", "ar_two", Answer.SEEN, 3),
        verdict("bus", "aw_two", Answer.NEVER),
        verdict("", "level", Answer.OPEN),
        verdict("command", "ready"),
    ]
    title, bus, helpers, command = (line.split("  ") for line in matrix(verdicts, {}))
    found = [dict(zip(_filled(title), _filled(row), strict=True)) for row in (bus, helpers, command)]
    assert found[0] == {
        "port": "part.bus", "handshake": "40 cycles", "stable": "-", "reset": "-", "4 KiB": "always",
        "lengths": "-", "last": "violated", "strobes": "-", "order": "-", "under way": "-", "answers": "-",
        "answered": "-", "at last": "-", "agreed": "-", "helpers": "-", "covers": "1/2",
    }  # fmt: skip
    assert found[1]["helpers"] == "not decided"
    assert found[2]["agreed"] == "always"


def _filled(cells: list[str]) -> list[str]:
    return [cell.strip() for cell in cells if cell.strip()]


def test_an_outer_port_is_as_what_is_behind_it() -> None:
    joined = Verdict("whole", "m_axi", "joined", "", "", Answer.HOLDS, None, "Yosys", 0.0)
    other = Verdict("whole", "m_sg", "joined", "", "", Answer.HOLDS, None, "Yosys", 0.0)
    behind = {"whole": {"m_axi": "part.bus", "m_sg": "port.bus"}}
    lines = matrix([verdict("bus", "ar_held", bound=7), joined, other], behind)
    assert lines[2].split()[:5] == ["whole.m_axi", "=", "part.bus", "7", "cycles"]
    assert lines[3].split() == ["whole.m_sg", "=", "port.bus", "not", "asked", "for"]
