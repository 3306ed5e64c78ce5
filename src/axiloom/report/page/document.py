"""The frame of a page: style and script are in it, so that it needs nothing but itself."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib import resources


def document(title: str, sections: Iterable[str], *, script: bool = False) -> str:
    """HTML with these sections, empty ones left out; `script`: with the timeline's."""
    moves = f"<script>\n{_file('page.js')}</script>\n" if script else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_file('page.css')}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in sections if part)
        + f"\n</main>\n{moves}</body>\n</html>\n"
    )


def framed(page: str, height: int = 40) -> str:
    """A page inside another, a notebook's: `height` in lines. Nothing of its style leaves the frame."""
    return f'<iframe srcdoc="{escape(page)}" style="width: 100%; height: {height}em; border: 0"></iframe>'


def _file(name: str) -> str:
    return resources.files(__package__ or "").joinpath(name).read_text(encoding="utf-8")
