"""What a primitive raises: one line with what, where, why and what would be accepted."""

from __future__ import annotations

from axiloom.base.errors import UsageError
from axiloom.nests.schedule.schedule import Schedule


class ScheduleError(UsageError):
    """A primitive is asked for what cannot be done, or for something that does not exist."""


class LegalityError(ScheduleError):
    """A primitive would change what the program computes. `alternative` is what would be legal, as lines of
    a schedule's log, or empty; `refused` is the schedule as it would have been."""

    def __init__(
        self, message: str, alternative: tuple[str, ...] = (), refused: Schedule | None = None
    ) -> None:
        self.alternative, self.refused = alternative, refused
        super().__init__(message)
