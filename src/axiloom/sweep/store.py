"""Results in a JSON-lines file that survives whatever happens to the process that writes it.

One line a point: ``{"key": ..., "point": {...}, "result": {...}}``, or ``"error": {"class", "exit_code",
"message"}`` in place of the result. Lines are only ever appended, each synced to disk before the next. A
last line that was cut short (power, a full disk, a kill) is removed when the file is opened again.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from axiloom.base.cache import content_hash
from axiloom.base.errors import UsageError
from axiloom.base.files import check_file, make_folder

Point = Mapping[str, Any]
Record = dict[str, Any]


def canonical(point: Point) -> dict[str, Any]:
    """The point as it comes back from the file (tuples are lists); UsageError if JSON cannot hold it."""
    try:
        loaded: dict[str, Any] = json.loads(json.dumps(point, sort_keys=True))
    except (TypeError, ValueError) as error:
        raise UsageError(f"a point of a sweep must be JSON, {point!r} is not: {error}") from None
    return loaded


def key(point: Point) -> str:
    """Content hash of a point: equal points are the same point, in whatever order their fields are."""
    return content_hash(canonical(point))


class Store:
    """The file at `path`, open and locked until :meth:`close`; `records` is key to the last line with it.

    Raises UsageError if another process has it open, or if a line other than the last is not one of ours.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        check_file(path)
        make_folder(path.parent)
        # Append mode: every write goes to the end, whatever was read before. Unbuffered: a line is one write.
        self._file: BinaryIO = path.open("a+b", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise UsageError(
                f"{path}: another sweep is writing to it; wait for it or give another file"
            ) from None
        self.repaired = 0
        """Bytes of a torn last line that were removed."""
        try:
            self.records = self._load()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back; another process may open it then."""
        self._file.close()

    def append(self, record: Record) -> None:
        """Write one record; it is on the disk when this returns."""
        line = json.dumps(record, separators=(",", ":"), sort_keys=True).encode() + b"\n"
        written = self._file.write(line)
        if written != len(line):  # a full disk writes a part before it refuses
            raise UsageError(
                f"{self.path}: only {written} of {len(line)} bytes could be written: is the disk full?"
            )
        os.fsync(self._file.fileno())
        self.records[record["key"]] = record

    def _load(self) -> dict[str, Record]:
        self._file.seek(0)
        data = self._file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            self.repaired = len(data) - whole
            self._file.truncate(whole)
        records: dict[str, Record] = {}
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                record = json.loads(line)
                records[record["key"]] = record
            except (ValueError, TypeError, KeyError, RecursionError):
                raise UsageError(f"{self.path}: line {number} is not a result of a sweep") from None
        return records
