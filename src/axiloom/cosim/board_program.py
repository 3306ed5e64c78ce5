"""Programs that other tools built for a board: what starts them, and what a person should know of their run.

The processing system around the CPU is ``native/ps7``.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from axiloom.base.errors import DriverError
from axiloom.cosim import native

if TYPE_CHECKING:
    from axiloom.boards import Board
    from axiloom.cosim.elf import Program
    from axiloom.cosim.lines import Source

HOSTS = ("cortex_a9", "cortex_a53")
"""CPUs that have such a system here."""
_EXIT, _ASSERT = "_exit", "Xil_Assert"
_ABSENT = (0, 0)


@dataclass(frozen=True)
class Terminal:
    """A person at the board's UARTs."""

    typed: bytes = b""
    """What the program finds there, as fast as it takes it."""
    until: str = ""
    """The program ends when it has printed this; empty: by itself alone."""
    limit_s: float = 100.0
    """Of the board's time."""
    reads: int = -1
    """A descriptor: what is typed after `typed`, while the program runs; -1: nothing."""
    prints: int = -1
    """A descriptor that gets the text while the program runs; -1: none does."""

    @property
    def descriptors(self) -> list[int]:
        return [number for number in (self.reads, self.prints) if number >= 0]

    def again(self, taken: bytes) -> Terminal:
        """Of another run, in which the program is given the same and nobody looks on."""
        return replace(self, typed=taken, reads=-1, prints=-1)


NOBODY = Terminal()


def check(program: Program, board: Board) -> None:
    """DriverError where the board's CPU has no surroundings for such programs."""
    if board.cpu not in HOSTS:
        raise DriverError(
            f"{program.path.name} was not built with our start-up code (no symbol 'axiloom_exit'). On a "
            f"{board.host.title} only such programs run: interrupt controller, timer and UART of such a core "
            "are the design's own, and none are simulated. Give the sources, or take a Zynq "
            "(--board pynq-z2, --board zcu104)"
        )


def is_cleared(program: Program, symbol: str) -> bool:
    """Whether start-up code makes zeros of an array before main: the file has no values for it."""
    address = program.symbol(symbol).address
    return not any(part.address <= address < part.address + len(part.data) for part in program.segments)


def start(lib: Any, program: Program, terminal: Terminal) -> int:
    """The result of axl_board_start."""
    return int(
        lib.axl_board_start(
            ctypes.byref(
                native.BoardProgram(
                    program.entry,
                    *program.text,
                    *_range(program, _EXIT),
                    *_range(program, _ASSERT),
                    len(terminal.typed),
                    round(terminal.limit_s * 1e9),
                    terminal.typed,
                    terminal.until.encode() or None,
                    terminal.reads,
                    terminal.prints,
                )
            )
        )
    )


def _range(program: Program, name: str) -> tuple[int, int]:
    symbol = program.symbols.get(name)
    if symbol is None or not symbol.is_function:
        return _ABSENT
    begin = symbol.address & ~1  # of Thumb code it is odd
    return begin, begin + max(symbol.size, 4)


def taken(lib: Any) -> bytes:
    """What the program has taken of what was typed."""
    size = ctypes.c_uint32()
    text = lib.axl_taken(ctypes.byref(size))
    return ctypes.string_at(text, size.value)


def notes(lib: Any, source: Source) -> list[str]:
    """Registers that nobody models, and how the run ended, one line for each place in the program."""
    pc, lines = ctypes.c_uint32(), []
    for number in range(lib.axl_note_count()):
        text = lib.axl_note(number, ctypes.byref(pc)).decode(errors="replace")
        lines.append(f"{source.place(pc.value, 0)}: {text}")
    return lines
