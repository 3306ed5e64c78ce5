"""Sections of the pages in ``docs/``, whose commands and programs tests run."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def section(page: str, title: str) -> str:
    """What stands below ``## title``, up to the next heading of its level."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.split(r"(^```.*?^```)", text, flags=re.DOTALL | re.MULTILINE)
    for number in range(1, len(blocks), 2):  # a comment in a block of code is no heading
        blocks[number] = re.sub(r"^#", "\0", blocks[number], flags=re.MULTILINE)
    shielded = "".join(blocks)
    behind = shielded.partition(f"\n## {title}\n")[2]
    assert behind, f"docs/{page}.md has no section {title!r}"
    return re.split(r"^## ", behind, maxsplit=1, flags=re.MULTILINE)[0].replace("\0", "#")
