"""``axiloom example`` and ``axiloom docs``: what comes with the package, for people who have no checkout."""

from __future__ import annotations

import re
import shutil
from importlib import resources
from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.cli import HELP
from axiloom.cli.applet import Applet, option

LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")


def folder(name: str) -> Path:
    """`examples` or `docs`: in the installed package, or beside it in a checkout."""
    package = Path(str(resources.files("axiloom")))
    return next(path for path in (package / name, package.parents[1] / name) if path.is_dir())


def examples() -> dict[str, str]:
    """Name to what it shows: the table of ``examples/README.md``."""
    text = (folder("examples") / "README.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| \[(\w+)\]\(\w+\) \| (.+?) \|$", text, re.MULTILINE))


def pages() -> dict[str, Path]:
    """Name without ``.md`` to its file."""
    root = folder("docs")
    return {path.relative_to(root).with_suffix("").as_posix(): path for path in sorted(root.rglob("*.md"))}


def example(name: str | None = None) -> None:
    known = examples()
    if name is None:
        width = max(map(len, known))
        for known_name, text in known.items():
            print(f"{known_name:{width}}  {text}")
        return
    if name not in known:
        raise UsageError(_unknown("example", name, list(known), "`axiloom example` lists them"))
    target = Path(name)
    if target.exists() or target.is_symlink():
        raise UsageError(
            f"{target} is here already, and is not overwritten; move it, or go to another folder"
        )
    shutil.copytree(folder("examples") / name, target, ignore=LEFT_OUT)
    for path in sorted(path for path in target.rglob("*") if path.is_file()):
        print(path.as_posix())


def docs(page: str | None = None) -> None:
    known = pages()
    if page is None:
        print(known["README"].read_text(encoding="utf-8"))
        print(f"All pages are files in {folder('docs')}.")
        return
    name = page.removesuffix(".md")
    if name not in known:
        raise UsageError(_unknown("page", page, list(known), "`axiloom docs` lists them"))
    print(known[name].read_text(encoding="utf-8"), end="")


def _unknown(kind: str, name: str, known: list[str], where: str) -> str:
    from axiloom.base.wording.names import hint  # here: it takes more time than all else of these commands

    return f"no {kind} {name!r}{hint(name, known)}; {where}"


APPLETS = (
    Applet(
        "example",
        HELP["example"],
        example,
        (option("name", nargs="?", metavar="NAME"),),
        "Without NAME: the examples, a line each. With NAME: writes the folder NAME here. A folder or file "
        "of that name is never overwritten.",
    ),
    Applet(
        "docs",
        HELP["docs"],
        docs,
        (option("page", nargs="?", metavar="PAGE"),),
        "Without PAGE: the index, and where the pages lie. With PAGE, such as own-rtl or boards: prints "
        "that page, in Markdown.",
    ),
)
