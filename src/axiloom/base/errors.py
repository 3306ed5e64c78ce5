"""Errors a user can meet: one class a layer, one line each, one exit code each.

The command line catches :class:`AxiloomError` once. A message says what is wrong,
where (file, JSON path or MLIR location), why, and what would be accepted.
"""

from __future__ import annotations

from collections.abc import Sequence


class AxiloomError(Exception):
    """Base of all errors meant for the user. `exit_code` is what the command returns."""

    exit_code = 70


class MismatchError(AxiloomError):
    """The simulated result differs from the independent reference."""

    exit_code = 1


class UsageError(AxiloomError):
    """The command line or a call asks for something that does not exist."""

    exit_code = 2


class SpecError(AxiloomError):
    """A specification is faulty. `faults` lists every fault, each with its place."""

    exit_code = 3

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


class CompileError(AxiloomError):
    """MLIR that does not parse, cannot be offloaded or lowered, or C that does not compile."""

    exit_code = 4


class UnfitError(CompileError):
    """An op that the accelerator cannot execute. The CPU can."""


class BuildError(AxiloomError):
    """RTL, simulator or native library could not be built, or a tool is missing."""

    exit_code = 5


class SimulatorError(AxiloomError):
    """A simulator, or the functional model in it, ended without an answer. The driver is not to blame."""

    exit_code = 5


class HangError(AxiloomError):
    """The watchdog stopped a run that made no progress; the message is the diagnosis."""

    exit_code = 6


class DriverError(AxiloomError):
    """The driver itself failed: a status from the runtime, a fault, or a wrong use of a register."""

    exit_code = 7


class BoardError(AxiloomError):
    """A real board cannot be reached, or refuses what the command needs."""

    exit_code = 8


class StaleDataError(DriverError):
    """CPU or DMA saw old data, as on a board: a clean or an invalidate is missing, or a line is shared."""

    exit_code = 9


class ProtocolError(AxiloomError):
    """RTL broke a rule of its bus; the message names signal, interface, cycle and rule."""

    exit_code = 10
