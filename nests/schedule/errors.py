"""What a primitive raises: one line with what, where, why and what would be accepted."""

from __future__ import annotations

from axiloom.errors import UsageError


class ScheduleError(UsageError):
    """A primitive is asked for what cannot be done, or for something that does not exist."""


class LegalityError(ScheduleError):
    """A primitive would change what the program computes. `alternative` is what would be legal, as lines of
    a schedule's log, or empty."""

    def __init__(self, message: str, alternative: tuple[str, ...] = ()) -> None:
        self.alternative = alternative
        super().__init__(message)
