"""What the README and the pages of docs/ say about themselves and about the command line holds."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from axiloom.cli import main
from axiloom.cli.applet import Applet
from axiloom.cli.run import network, problem
from axiloom.drivergen.problems.kinds import parse_workload
from axiloom.read import models

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def prose(page: Path) -> str:
    """The page without its blocks of code, in which `#` and `[]` mean something else."""
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The names under which GitHub finds the page's headings."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if link.startswith("http"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_no_page_measures_time_in_revisions(page: Path) -> None:
    words = set(re.findall(r"\b[0-9a-f]{7,40}\b", prose(page)))
    assert [word for word in words if re.search("[a-f]", word) and re.search("[0-9]", word)] == []


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_begins_with_what_the_reader_gets(page: Path) -> None:
    heading, nothing, first = page.read_text().splitlines()[:3]
    assert (heading[:2], nothing, first[:11]) == ("# ", "", "**You get**")


@pytest.mark.parametrize(("page", "words"), [("README.md", 900), ("CHANGELOG.md", 600)])
def test_the_front_pages_are_short(page: str, words: int) -> None:
    assert len((ROOT / page).read_text().split()) <= words


def test_the_pages_are_short() -> None:
    assert sum(len(page.read_text().split()) for page in DOCS.rglob("*.md")) <= 35_000


def test_the_index_has_every_page() -> None:
    index = DOCS / "README.md"
    linked = {(DOCS / link).resolve() for link in re.findall(r"\]\(([^)#\s]+)", index.read_text())}
    assert [page for page in DOCS.rglob("*.md") if page not in linked | {index}] == []


def commands() -> Iterator[tuple[str, str]]:
    """Each `axiloom` command in a block of code or a table, with its page, but without gaps (`...`)."""
    for page in PAGES:
        text = page.read_text().replace("\\\n", " ")
        lines = re.findall(r"^ *(?:\$ )?(?:\w+=\S+ )*(axiloom [a-z].*)$", text, re.MULTILINE)
        cells = re.findall(r"^\|.*\| `(axiloom [a-z][^`]*)`.*\|$", text, re.MULTILINE)
        for command in (*lines, *cells):
            words = re.split(r" [|>] | && |  +", command)[0].rstrip()
            if not re.search(r"\.\.\.|[\[|]", words):
                yield str(page.relative_to(ROOT)), words


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Command lines are taken apart, and nothing is done; files need not be there."""
    monkeypatch.setattr(Applet, "call", lambda applet, values, _words: bool(applet.taken(values)) * 0)
    monkeypatch.setattr(Path, "is_file", lambda _: True)
    monkeypatch.setattr(models, "meant", lambda text: [text])
    monkeypatch.setattr(problem, "filled", lambda _problem, _define: nullcontext())


@pytest.mark.every(4)
@pytest.mark.parametrize(("page", "command"), sorted(set(commands())))
def test_the_command_line_takes_what_the_pages_show(
    page: str, command: str, unread: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its options and their values, of a network or of one op where a file would say which."""
    words = shlex.split(command, comments=True)[1:]
    codes = []
    for is_network in (False, True):
        read = SimpleNamespace(is_network=is_network)
        monkeypatch.setattr(network, "_work", lambda *_, read=read: read)
        codes.append(main(words))
    assert 0 in codes, f"{page}: {command}: {capsys.readouterr().err}"


def test_problems_in_the_pages_are_problems() -> None:
    found = {
        text
        for page in PAGES
        for text in re.findall(r"\b(?:matmul:\d|conv:\d|copy:\d)[\w=:,]*\w", page.read_text())
    }
    assert len(found) > 10
    for text in sorted(found):
        parse_workload(text)


@pytest.mark.slow
def test_the_tile_in_the_page_on_drivers_runs(soc, tmp_path: Path) -> None:
    (source,) = re.findall(r"```c\n(#include.*?)```", (DOCS / "driver.md").read_text(), re.DOTALL)
    driver = tmp_path / "tile.c"
    driver.write_text(source)
    result = soc("v3_16").run(driver)
    assert result.exit_code == 0
    assert (result.fabric["words_in"], result.stale) == (257, [])
