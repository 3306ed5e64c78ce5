"""The documentation's site: its pages, its navigation and its links; Sphinx builds it without a warning."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.site.__main__ import main
from tools.site.assemble import FENCE, Site

from axiloom.cli import GROUPS


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "pages"
    Site(folder).write()
    return folder


def test_links_lead_to_pages_of_the_site(pages: Path) -> None:
    broken = []
    for page in pages.rglob("*.md"):
        if page.is_relative_to(pages / "files"):
            continue  # a file as it is
        for link in re.findall(r"\]\(([^)\s#]+)", FENCE.sub("", page.read_text())):
            if "://" not in link and not (page.parent / link).exists():
                broken.append(f"{page.relative_to(pages)}: {link}")
    assert broken == []


def test_the_navigation_has_every_page(pages: Path) -> None:
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", (pages / "index.md").read_text(), re.DOTALL)
    listed = {line for block in blocks for line in block.splitlines() if line and not line.startswith(":")}
    written = {page.relative_to(pages).with_suffix("").as_posix() for page in pages.rglob("*.md")}
    assert {page for page in written if not page.startswith("files/")} == listed | {"index"}


def test_a_linked_file_is_shown(pages: Path) -> None:
    assert "](files/src/axiloom/sw/include/axiloom.h.md)" in (pages / "driver.md").read_text()
    assert "dma_init" in (pages / "files/src/axiloom/sw/include/axiloom.h.md").read_text()


def test_every_command_is_on_the_page_of_the_command_line(pages: Path) -> None:
    text = (pages / "reference-command-line.md").read_text()
    commands = [names[0] for names in GROUPS.values()]
    assert [name for name in commands if f"\n## `axiloom {name}`\n" not in text] == []
    assert "\n### `axiloom spec from-rtl`\n" in text
    assert "--stream-width" in text


@pytest.mark.slow
def test_sphinx_builds_it(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    assert main([str(tmp_path / "site")]) == 0
    assert "AcceleratorSpec" in (tmp_path / "site" / "reference-python.html").read_text()
    assert (tmp_path / "site" / "searchindex.js").exists()
