"""Built-in specifications with something changed, and the faults that this makes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from axiloom import isa

Body = dict[str, Any]


def faults_of(tmp_path: Path, name: str, edit: Callable[[Body], object], post: bool = False) -> list[str]:
    """Faults of a built-in accelerator's file after `edit`, without the place of the accelerator."""
    document = json.loads(isa.dumps(isa.builtin(name, post=post)))
    edit(document["accelerators"][0])
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(document))
    return [fault.removeprefix("accelerators[0].") for fault in isa.check_file(path)]


def put(*path: Any) -> Callable[[Body], None]:
    """An edit: all but the last of `path` is where, the last is what."""

    def edit(body: Body) -> None:
        *where, key, value = path
        place: Any = body
        for step in where:
            place = place[step]
        place[key] = value

    return edit


def swap(key: str, old: str, new: str) -> Callable[[Body], None]:
    def edit(body: Body) -> None:
        assert old in body[key]
        body[key] = body[key].replace(old, new)

    return edit


def both(*edits: Callable[[Body], None]) -> Callable[[Body], None]:
    def edit(body: Body) -> None:
        for one in edits:
            one(body)

    return edit
