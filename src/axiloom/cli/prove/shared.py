"""What the commands of ``axiloom prove`` share: options, a line of progress, and the end."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tqdm import tqdm

from axiloom.cli import options as shared
from axiloom.cli.given import output_file
from axiloom.files import write_whole

if TYPE_CHECKING:
    from axiloom.prove.verdict import Verdict

LIMIT_S = 60


def add_options(command: argparse.ArgumentParser, limit: str) -> None:
    """``--limit``, of which `limit` says what the seconds are of, and ``--json``."""
    command.add_argument(
        "--limit",
        type=shared.positive,
        default=LIMIT_S,
        metavar="S",
        help=f"{limit} (default %(default)s)",
    )
    command.add_argument("--json", type=output_file, metavar="FILE", help="write the verdicts as JSON too")


def with_progress(ask: Callable[[Callable[[int], None]], list[Verdict]]) -> list[Verdict]:
    """What `ask` gives; it says their number as each claim is decided, which is shown with the time left."""
    with tqdm(unit=" claims", disable=None, leave=False) as shown:

        def counted(total: int) -> None:
            shown.total = total
            shown.update()

        return ask(counted)


def ended(options: argparse.Namespace, verdicts: Sequence[Verdict], enough: int | bool | None = True) -> int:
    """Writes ``--json``; the exit code: 0 only if all is good.

    What holds to a bound only is good if that has `enough` cycles; True: each bound is enough, None: none is.
    """
    from axiloom.prove.verdict import as_json

    if options.json:
        write_whole(options.json, json.dumps({"verdicts": as_json(verdicts)}, indent=1) + "\n")
    short = enough is not True and any(
        one.bounded and (enough is None or one.bound is None or one.bound < enough) for one in verdicts
    )
    return 0 if all(one.good for one in verdicts) and not short else 1
