"""What the commands of ``axiloom prove`` share: options, a line of progress, and the end."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from axiloom.base.files import write_whole
from axiloom.cli.applet import Option, option, output_file
from axiloom.cli.options import positive
from axiloom.isa.instructions import library

if TYPE_CHECKING:
    from axiloom.prove.verdict import Say, Verdict

LIMIT_S = 60
QUIET_S = 20
"""Seconds without a word where nobody sees a bar."""


JSON = option(
    "--json",
    dest="json_file",
    type=output_file,
    metavar="FILE",
    first=True,
    help="write the verdicts as JSON too",
)
ALL = option(
    "--all",
    dest="every",
    action="store_true",
    first=True,
    help="a line for each claim, not only for what is not so",
)
BUILT_IN = f"a file of yours, or a built-in one: {', '.join(library.targets())}"


def limit(seconds: str, default: int = LIMIT_S) -> Option:
    """``--limit``, of which `seconds` says what they are of."""
    return option(
        "--limit", type=positive, metavar="S", first=True, help=f"seconds {seconds} (default {default})"
    )


class Told:
    """What is known so far. What is not good is printed when it is found; if the run is stopped, all that is
    known is, and ``--json`` is written."""

    def __init__(self, json_file: Path | None = None, unit: str = "claims") -> None:
        self.json_file, self.total = json_file, 0
        self.verdicts: list[Verdict] = []
        self._shown = tqdm(unit=f" {unit}", disable=None, leave=False)
        self._unit, self._begun = unit, time.monotonic()
        self._last = self._begun

    def __enter__(self) -> Told:
        return self

    def __call__(self, verdict: Verdict, total: int = 0) -> None:
        self.verdicts.append(verdict)
        self.total = total
        self._shown.total = total or None
        self._shown.update()
        if not verdict.good:
            self.say(line(verdict))
        elif self._shown.disable and time.monotonic() - self._last > QUIET_S:
            self._last = time.monotonic()
            done = f"{len(self.verdicts)}{f' of {total}' if total else ''} {self._unit}"
            print(f"{done}, {self._last - self._begun:.0f} s", file=sys.stderr, flush=True)

    def of(self, ask: Callable[[Say], list[Verdict]]) -> list[Verdict]:
        """What `ask` gives and tells of; what comes from the cache, nobody told of."""
        verdicts = ask(self)
        if not self.verdicts:
            for verdict in verdicts:
                self(verdict)
        return verdicts

    def say(self, text: str) -> None:
        self._shown.clear()
        print(text, flush=True)
        self._last = time.monotonic()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._shown.close()
        if kind is None or issubclass(kind, Exception):
            return
        from axiloom.prove.verdict import summary, table

        if self.verdicts:
            print("\n".join(table(self.verdicts)))
        left = f" of {self.total}" if self.total else ""
        print(
            f"stopped: {len(self.verdicts)}{left} {self._unit} are known: {summary(self.verdicts)}",
            flush=True,
        )
        ended(self.json_file, self.verdicts)


def line(verdict: Verdict) -> str:
    """Of one that is not good."""
    port = f" ({verdict.port})" if verdict.port else ""
    return f"{verdict.module}{port}: {verdict.name}: {verdict.answer.value}: {verdict.text}"


def concluded(
    name: str,
    verdicts: Sequence[Verdict],
    begun: float,
    json_file: Path | None,
    counted: Sequence[Verdict] | None = None,
) -> int:
    """Sums up what was proved of `name` since `begun`, or what is `counted` of it; then as :func:`ended`."""
    from axiloom.prove import solvers
    from axiloom.prove.verdict import summary

    is_known = all(verdict.cached for verdict in verdicts)
    how = "from the cache" if is_known else f"{time.perf_counter() - begun:.0f} s"
    print(f"{name}: {summary(verdicts if counted is None else counted)}; {how}; {solvers.versions()}")
    return ended(json_file, verdicts)


def ended(json_file: Path | None, verdicts: Sequence[Verdict], enough: int | None = None) -> int:
    """Writes ``--json``; the exit code: 0 only if all is good.

    What is not proved, and was looked at for some cycles, is good if these are `enough`.
    """
    from axiloom.prove.verdict import as_json

    if json_file:
        write_whole(json_file, json.dumps({"verdicts": as_json(verdicts)}, indent=1) + "\n")
    short = any(rule.bounded and (enough is None or (rule.bound or 0) < enough) for rule in verdicts)
    return 0 if all(rule.good for rule in verdicts) and not short else 1
