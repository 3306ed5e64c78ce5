"""Answers of provers in the user's cache, by the content of the question."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from axiloom.cache import cached_build

ANSWER = "found.json"


def kept(kind: str, key: str, ask: Callable[[], Any], decided: Callable[[Any], bool]) -> tuple[Any, bool]:
    """What `ask` answers, as JSON has it; and whether it did so before.

    What is not `decided` is not kept: with more time it may be, so it is asked again.
    """
    fresh: list[Any] = []

    def build(place: Path) -> None:
        fresh.append(ask())
        (place / ANSWER).write_text(json.dumps(fresh[0]), encoding="utf-8")

    file = cached_build(kind, key, build) / ANSWER
    answer = json.loads(file.read_text(encoding="utf-8"))
    if fresh and not decided(fresh[0]):
        shutil.rmtree(file.parent, ignore_errors=True)
    return answer, not fresh
