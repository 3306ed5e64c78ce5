"""Names without special characters for a user's files: tools for RTL take ``$``, quotes and spaces in a
path for something else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_PLAIN = re.compile(r"[\w.+-]+", re.ASCII)
_OURS = re.compile(r"(?<![\w./])(?P<folder>d\d+/)(?P<rest>[\w.+/-]*)|(?<![\w./])(?P<file>f\d+\.\w+)")


def plain(name: str) -> str:
    """The name of a file with each special character replaced."""
    return re.sub(r"[^\w.+]", "_", name, flags=re.ASCII)


class Links:
    """Links in `folder`, where the tool runs. A file's neighbours are there by their names, to be included.

    Attributes: `files` and `includes`, the names of the links, in order.
    """

    def __init__(self, folder: Path, files: Sequence[Path], includes: Sequence[Path] = ()) -> None:
        self._folder = folder
        self._folders: dict[Path, str] = {}
        self._files: dict[str, str] = {}
        """Link to the file as the user named it."""
        self.files = [self._file(file) for file in files]
        for include in includes:
            self._place(include.resolve())
        self.includes = list(self._folders.values())

    def _place(self, folder: Path) -> str:
        if folder not in self._folders:
            name = f"d{len(self._folders)}"
            (self._folder / name).symlink_to(folder)
            self._folders[folder] = name
        return self._folders[folder]

    def _file(self, file: Path) -> str:
        real = file.resolve()
        name = f"{self._place(real.parent)}/{real.name}"
        if not _PLAIN.fullmatch(real.name):
            suffix = real.suffix if _PLAIN.fullmatch(real.suffix) else ".v"
            name = f"f{len(self._files)}{suffix}"
            (self._folder / name).symlink_to(real)
        self._files[name] = str(file)
        return name

    def told(self, message: str) -> str:
        """A tool's message, with the user's own names."""
        folders = {f"{name}/": f"{folder}/" for folder, name in self._folders.items()}

        def real(match: re.Match[str]) -> str:
            whole = match[0]
            if whole in self._files:
                return self._files[whole]
            return folders.get(match["folder"] or "", match["folder"] or "") + (match["rest"] or "")

        return _OURS.sub(real, message)
