"""Writes the table of keys in ``docs/specification.md`` from the schema: ``python -m tools.keys``.

A key's ``description`` says what it means, its ``$comment`` what holds where it is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from axiloom import isa

PAGE = Path(__file__).parents[1] / "docs" / "specification.md"
HEAD = "| key | meaning | if left out |\n|---|---|---|\n"
_LEFT_OUT = "if left out: "


def table() -> str:
    return HEAD + "".join(f"| `{key}` | {meaning} | {absent} |\n" for key, meaning, absent in _rows())


def _rows() -> Iterator[tuple[str, str, str]]:
    schema: dict[str, Any] = isa.schema()
    keys = {"cpu": schema["properties"]["cpu"], **schema["$defs"]["accelerator"]["properties"]}
    keys["packets"] = schema["$defs"]["link"]["properties"]["packets"]
    for key, rules in keys.items():
        yield key, rules["description"], rules.get("$comment", _LEFT_OUT).removeprefix(_LEFT_OUT)


def written(page: str) -> str:
    """The page with the table of the schema in the place of its own."""
    before, _, behind = page.partition(HEAD)
    return before + table() + behind[behind.index("\n\n") + 1 :]


def main() -> int:
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
