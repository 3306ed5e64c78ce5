"""What the packages read at run time is in the wheel: each kind of file has its pattern in pyproject.toml."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
IN_NO_WHEEL = {".gitignore"}


def test_every_file_has_a_pattern() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    patterns = [*settings["package-data"]["*"], "*.py"]
    files = {file for file in (ROOT / "src" / "axiloom").rglob("*") if file.is_file()}
    assert not any(file.is_symlink() for file in files)
    left = {
        str(file.relative_to(ROOT))
        for file in files
        if "__pycache__" not in file.parts
        and file.name not in IN_NO_WHEEL
        and not any(fnmatch(file.name, pattern) for pattern in patterns)
    }
    assert left == set()
