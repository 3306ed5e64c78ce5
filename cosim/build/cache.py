"""Builds cached by content hash under the user's cache folder, safe for parallel runs.

A build happens in a temporary folder beside its final place and is renamed when it is whole,
under a file lock: no run ever sees half of one, and two that want the same build make it once.
``AXILOOM_CACHE`` moves the folder. What nobody has used for `KEEP_DAYS` goes away by itself.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import platformdirs

KEEP_DAYS = 30
"""Days without use after which a build is removed, when another of its kind is made."""
_LOOKED = ".looked"
"""Its time of change says when a folder was last searched for old builds: once a day is enough."""
_DAY = 86_400.0


def cache_root() -> Path:
    """The folder that holds all builds."""
    root = os.environ.get("AXILOOM_CACHE")
    return Path(root) if root else Path(platformdirs.user_cache_dir("axiloom"))


def content_hash(*parts: Any) -> str:
    """Hash of text, bytes, paths (their content) and JSON-like values, in order."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            part = part.read_bytes()
        elif isinstance(part, str):
            part = part.encode()
        elif not isinstance(part, bytes):
            part = json.dumps(part, sort_keys=True, default=str).encode()
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()[:24]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def cached_build(kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """Folder of the build `kind`/`key`; if it is not there, `build(folder)` fills it.

    Whatever `build` raises passes through, and leaves nothing behind.
    """
    parent = cache_root() / kind
    final = parent / key
    if final.is_dir():
        os.utime(final)
        return final
    parent.mkdir(parents=True, exist_ok=True)
    with _locked(parent / f".{key}.lock"):
        if final.is_dir():
            return final
        work = Path(tempfile.mkdtemp(prefix=f".{key}.", dir=parent))
        try:
            build(work)
            work.rename(final)
        except BaseException:
            shutil.rmtree(work, ignore_errors=True)
            raise
    _remove_unused(parent)
    return final


class NotCachedError(LookupError):
    """A build is not in the cache, and was not to be made."""


def only_cached(kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """As :func:`cached_build`, but nothing is built: raises :exc:`NotCachedError` instead."""
    final = cache_root() / kind / key
    if not final.is_dir():
        raise NotCachedError(f"{kind}/{key}")
    return cached_build(kind, key, build)


def _remove_unused(parent: Path) -> None:
    """Remove the builds in `parent` that were last used more than `KEEP_DAYS` ago."""
    looked, now = parent / _LOOKED, time.time()
    if looked.exists() and now - looked.stat().st_mtime < _DAY:
        return
    looked.touch()
    for build in parent.iterdir():
        if build.name.startswith(".") or now - build.stat().st_mtime < KEEP_DAYS * _DAY:
            continue
        shutil.rmtree(build, ignore_errors=True)
        (parent / f".{build.name}.lock").unlink(missing_ok=True)
