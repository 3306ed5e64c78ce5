"""One folder of pages for Sphinx: docs/ as it is, and what its links lead to outside of it.

``README.md`` becomes ``index.md``, in each folder. A link to a file that is no page, such as a C header,
leads to a page that shows the file. The index's headings become the site's navigation.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from tools.site.reference import PAGES as REFERENCE

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MORE = ("CONTRIBUTING.md", "CHANGELOG.md")
"""Pages outside of docs/ that belong to the site."""
LEXERS = {".c": "c", ".h": "c", ".v": "verilog", ".json": "json", ".md": "markdown", ".py": "python"}
"""How Pygments calls the language of a file that is shown; others are shown as text."""

LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


class Site:
    """The folder `target`, and where each page of the repository lies in it."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.places = {page: self._place(page) for page in sorted(DOCS.rglob("*.md"))}
        self.places |= {ROOT / name: Path(name) for name in MORE}
        self.places[ROOT / "README.md"] = Path("index.md")  # the start page has what it says
        self.shown: dict[Path, Path] = {}

    @staticmethod
    def _place(page: Path) -> Path:
        place = page.relative_to(DOCS)
        return place.with_name("index.md") if place.name == "README.md" else place

    def write(self) -> None:
        """All pages; files that are shown come last, as the links to them are known then."""
        shutil.rmtree(self.target, ignore_errors=True)
        self.target.mkdir(parents=True)
        for page, place in self.places.items():
            if page != ROOT / "README.md":
                self._write(
                    place, self._links(page, place) + (navigation() if place == Path("index.md") else "")
                )
        shutil.copytree(DOCS / "images", self.target / "images")
        for file, place in self.shown.items():
            self._write(place, _file_page(file))
        for name, text in REFERENCE.items():
            self._write(Path(name), text())

    def _write(self, place: Path, text: str) -> None:
        path = self.target / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _links(self, page: Path, place: Path) -> str:
        """The page's text, with each link as it leads from `place`."""

        def link(match: re.Match[str]) -> str:
            path, anchor = match[1], match[2] or ""
            if "://" in path:
                return match[0]
            to = self._target((page.parent / path).resolve())
            return match[0] if to is None else f"]({os.path.relpath(to, place.parent)}{anchor})"

        parts = FENCE.split(page.read_text(encoding="utf-8"))
        return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)

    def _target(self, path: Path) -> Path | None:
        """Where the site has the file or folder; none for images, which keep their place beside the pages."""
        if path.is_dir():
            path = path / "README.md"
        if path in self.places:
            return self.places[path]
        if path.is_relative_to(DOCS) or not path.is_file():
            return None
        return self.shown.setdefault(path, Path("files", f"{path.relative_to(ROOT)}.md"))


def _file_page(file: Path) -> str:
    name = file.relative_to(ROOT).as_posix()
    language = LEXERS.get(file.suffix, "text")
    return f"---\norphan: true\n---\n\n# `{name}`\n\n````{language}\n{file.read_text(encoding='utf-8')}````\n"


def navigation() -> str:
    """Tables of contents: each heading of the index with the pages that its list links to; the reference."""
    text = (DOCS / "README.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    blocks = []
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        links = [link for link in re.findall(r"\]\(([^)#\s]+)\)", body) if link.endswith(".md")]
        pages = [_entry(link) for link in dict.fromkeys(links)]
        if title == "Look up":
            pages += [name.removesuffix(".md") for name in REFERENCE]
        if pages:
            blocks.append(f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(pages) + "\n```\n")
    return "\n" + "\n".join(blocks)


def _entry(link: str) -> str:
    return link.removeprefix("../").removesuffix(".md").replace("README", "index")
