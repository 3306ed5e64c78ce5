"""Puts what an experiment printed and drew into a Markdown file, between two marks that name it."""

from __future__ import annotations

import re
from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.base.files import write_whole

END = "<!-- end -->"


def begin(name: str) -> str:
    """The mark before the figures of an experiment; `END` is the one after them."""
    return f"<!-- python -m benchmarks.paper {name} -->"


def check(file: Path, name: str) -> None:
    """UsageError unless `file` has the marks of the experiment `name`."""
    _between(file, name)


def fill(file: Path, name: str, text: str, drawing: str) -> None:
    """Replace what stands between the marks, and write a drawing to ``images/NAME.svg`` beside `file`."""
    image = Path("images") / f"{name}.svg"
    before, after = _between(file, name)
    # The first line of the text is the title, which the heading above the marks has.
    shown = text.split("\n", 1)[1].strip("\n")
    block = f"{begin(name)}\n![{name}]({image.as_posix()})\n\n```\n{shown}\n```\n{END}"
    if drawing:
        write_whole(file.parent / image, drawing)
    write_whole(file, before + block + after)


def _between(file: Path, name: str) -> tuple[str, str]:
    """What stands before the first mark, and after the second."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {file}: {error}") from None
    match = re.search(f"{re.escape(begin(name))}.*?{re.escape(END)}", text, re.DOTALL)
    if not match:
        raise UsageError(f"{file} has no line `{begin(name)}` with a line `{END}` after it")
    return text[: match.start()], text[match.end() :]
