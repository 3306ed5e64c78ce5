"""What was built, proved or measured once is kept by its content hash, in the user's cache folder.

``AXILOOM_CACHE`` moves the folder. An entry is a folder KIND/KEY with a manifest: the hash of each of its
files. Who uses an entry checks it (once in a process, then only whether files have changed); what is damaged
is made again. An entry appears whole or not at all, under a file lock: two that want the same make it once.
A cache that is shared and may only be read is used; what it lacks goes into the user's own. What nobody has
used for `KEEP_DAYS` goes away by itself, and so does what a process left that is gone.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import platformdirs

from axiloom.base import processes
from axiloom.base.errors import AxiloomError, BuildError

T = TypeVar("T")

KEEP_DAYS = 30
"""Days without use after which an entry is removed, when another of its kind is made."""
_SEARCHED = ".searched"
"""Its time of change says when a folder was last searched for old entries: once a day is enough."""
_DAY = 86_400.0
_MANIFEST = ".manifest"
"""In an entry, JSON: each file's name and SHA-256."""
_VALUE = "value.json"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FULL_TEXTS = (*map(os.strerror, _FULL), "File size limit exceeded")
_CACHE = "the cache folder"
_LITTLE = 1 << 20
"""Bytes of a disk that is as good as full."""


def cache_root() -> Path:
    """The folder that holds all entries."""
    root = os.environ.get("AXILOOM_CACHE")
    if not root:
        return _own_root()
    folder = Path(root)
    if not folder.is_absolute():  # programs that we start in other folders have the same cache
        folder = folder.absolute()
        os.environ["AXILOOM_CACHE"] = str(folder)
    return folder


def _own_root() -> Path:
    return Path(platformdirs.user_cache_dir("axiloom"))


def _roots(kind: str = "") -> list[Path]:
    """Where an entry is looked for; it is made in the last. More than one only for a cache that is shared."""
    root = cache_root()
    folders = [folder for folder in (root, root / kind) if _is_folder(folder)]
    ours = all(os.access(folder, os.W_OK | os.X_OK) for folder in folders)
    return [root] if ours else list(dict.fromkeys((root, _own_root())))


def _is_folder(path: Path) -> bool:
    """Not so, too, where somebody may not look (`Path.is_dir` raises PermissionError there)."""
    try:
        return path.is_dir()
    except OSError:
        return False


def writable_root() -> Path:
    """The folder for what programs keep in folders of their own. Raises NoPlaceError."""
    root = _roots()[-1]
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _no_place(error) from None
    return root


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


# --- entries ------------------------------------------------------------------------------------------


def cached_build(kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """Folder of the entry `kind`/`key`; if it is not there or damaged, `build(folder)` fills it.

    Whatever `build` raises passes through, and leaves nothing behind; but a full disk is a BuildError.
    """
    return _whole_entry(kind, key) or _build(_roots(kind)[-1] / kind, key, build)


def only_cached(kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """As :func:`cached_build`, but nothing is built: raises :exc:`NotCachedError` instead."""
    if entry := _whole_entry(kind, key):
        return entry
    raise NotCachedError(f"{kind}/{key}")


class NoPlaceError(BuildError):
    """The cache folder cannot be written to."""


class NotCachedError(LookupError):
    """An entry is not in the cache, and was not to be made."""


def has(kind: str, key: str) -> bool:
    """Whether the entry is there, and whole."""
    return _whole_entry(kind, key) is not None


def forget(kind: str, key: str) -> None:
    """Remove the entry."""
    for root in _roots(kind):
        shutil.rmtree(root / kind / key, ignore_errors=True)


def value(kind: str, key: str) -> Any:
    """The JSON value that was kept. Raises :exc:`NotCachedError`."""
    if entry := _whole_entry(kind, key):
        with suppress(OSError, ValueError):  # it went away in this moment
            return json.loads((entry / _VALUE).read_text(encoding="utf-8"))
    raise NotCachedError(f"{kind}/{key}")


def keep(kind: str, key: str, value: Any) -> None:
    """Keep a JSON value, in the place of another. Where nothing can be written nothing is kept."""
    with suppress(BuildError):
        forget(kind, key)
        cached_build(kind, key, lambda folder: _write_value(folder, value))


def remembered(
    kind: str, key: str, find: Callable[[], T], good: Callable[[T], bool] = lambda _value: True
) -> tuple[T, bool]:
    """The JSON value that `find` gives, or gave before; and whether it did so before.

    What is not `good` is not kept: it is looked for again. Where nothing can be written nothing is kept.
    """
    fresh: list[str] = []

    def build(folder: Path) -> None:
        value = find()
        fresh.append(json.dumps(value))
        if not good(value):
            raise _NotGoodError
        _write_value(folder, value)

    try:
        text = (cached_build(kind, key, build) / _VALUE).read_text(encoding="utf-8")
    except _NotGoodError:
        text = fresh[0]
    except NoPlaceError:
        fresh.append(json.dumps(find()))
        text = fresh[0]
    except BuildError:  # what was found does not fit on the disk
        if not fresh:
            raise
        text = fresh[0]
    value: T = json.loads(text)
    return value, not fresh


class _NotGoodError(Exception):
    """What was made is not to be kept."""


def _write_value(folder: Path, value: Any) -> None:
    (folder / _VALUE).write_text(json.dumps(value), encoding="utf-8")


def _whole_entry(kind: str, key: str) -> Path | None:
    for root in _roots(kind):
        entry = root / kind / key
        if is_whole(entry):
            # Somebody else's entry counts as used as well, but we may not say so.
            with suppress(OSError):
                os.utime(entry)
            return entry
    return None


def _build(parent: Path, key: str, build: Callable[[Path], None]) -> Path:
    final = parent / key
    with _locked(parent, key):
        if is_whole(final, again=True):  # somebody else has made it while we waited
            return final
        try:
            _remove(final)
            work = Path(tempfile.mkdtemp(prefix=f".{key}.", dir=parent))
        except OSError as error:
            raise _no_place(error) from None
        with processes.temporary(work):
            try:
                build(work)
                _seal(work)
                work.rename(final)
                _CHECKED[final] = _stamp(final)
            except Exception as error:
                if line := full(error, work):
                    raise BuildError(line) from None
                raise
    _remove_unused(parent)
    return final


@contextmanager
def _locked(parent: Path, key: str) -> Iterator[None]:
    """Nobody else makes this entry. The file goes away with the lock."""
    path = parent / f".{key}.lock"
    while True:
        try:
            parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise _no_place(error) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_at(descriptor, path):
                try:
                    yield
                finally:
                    path.unlink(missing_ok=True)
                return
        finally:
            os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether the file is still there: who held the lock before has removed it."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _no_place(error: OSError) -> NoPlaceError:
    return NoPlaceError(
        f"{_CACHE} {cache_root()} cannot be written to: {error.strerror}; "
        "give AXILOOM_CACHE a folder that can"
    )


def full(error: BaseException, folder: Path | None = None) -> str:
    """One line if `error` came because a disk is full, else nothing.

    Only the program that wrote to the disk is sure to say so. What reads its half a file fails in its own
    way, so an error counts, too, while no place is left in `folder` (default: the cache) or for temporary
    files.
    """
    place, free = _least_free([folder or cache_root(), temporary_root()])
    texts = [text for text in _FULL_TEXTS if text in str(error)]
    if not texts and isinstance(error, OSError) and error.errno in _FULL:
        texts = [os.strerror(error.errno or 0)]
    if not texts and free < _LITTLE and not _is_signal(error):
        texts = [os.strerror(errno.ENOSPC)]
    if not texts:
        return ""
    detail = (str(error).splitlines() or [""])[0]
    if isinstance(error, OSError) and not isinstance(error, AxiloomError):
        detail = ""
    elif not isinstance(error, AxiloomError):
        detail = f"{type(error).__name__}: {detail}"
    what = (
        f"the folder for temporary files {place}" if place == temporary_root() else f"{_CACHE} {cache_root()}"
    )
    return (
        f"{texts[0]}: {free >> 10:,} KiB are free in {what}; make room, or give AXILOOM_CACHE (or TMPDIR) a "
        f"folder on another disk{f' ({detail})' if detail else ''}"
    )


def _is_signal(error: BaseException) -> bool:
    """An exception of ours that is no error: one function tells another something."""
    return not isinstance(error, AxiloomError) and type(error).__module__.partition(".")[0] == "axiloom"


def temporary_root() -> Path:
    """The folder for temporary files, or the one that would be if anything could be written."""
    try:
        return Path(tempfile.gettempdir())
    except OSError:  # nothing at all can be written
        return Path(os.environ.get("TMPDIR") or "/tmp")


def _least_free(folders: list[Path]) -> tuple[Path, int]:
    """The folder with the least free space, and that in bytes; of one that is not there yet: above it."""
    free = []
    for folder in folders:
        there = next((path for path in (folder, *folder.parents) if _is_folder(path)), None)
        with suppress(OSError):
            if there is not None:
                free.append((shutil.disk_usage(there).free, folder))
    least, folder = min(free, default=(0, folders[0]), key=lambda row: row[0])
    return folder, least


# --- manifests ----------------------------------------------------------------------------------------

_Stamp = tuple[tuple[int, int, int], ...]
_CHECKED: dict[Path, _Stamp] = {}
"""Entries that were whole when this process last looked, and how their files were then."""


def _seal(folder: Path) -> None:
    """Write the manifest, and let others read the folder as the umask says: mkdtemp does not."""
    hashes = {name: _hash(folder / name) for name in _files(folder)}
    (folder / _MANIFEST).write_text(json.dumps(hashes), encoding="utf-8")
    mask = os.umask(0)
    os.umask(mask)
    folder.chmod(0o777 & ~mask)


def is_whole(entry: Path, again: bool = False) -> bool:
    """Whether the entry is there, and each of its files is as it was made. `again`: read all files again."""
    try:
        stamp = _stamp(entry)
        if not again and _CHECKED.get(entry) == stamp:
            return True
        hashes = _manifest(entry)
        whole = bool(hashes == {name: _hash(entry / name) for name in hashes})
    except (OSError, ValueError, TypeError, AttributeError):
        whole = False
    if whole:
        _CHECKED[entry] = stamp
    else:
        _CHECKED.pop(entry, None)
    return whole


def damaged() -> list[Path]:
    """Of the entries that this process has used, those that are no longer whole: all files are read again."""
    return [entry for entry in [*_CHECKED] if not is_whole(entry, again=True)]


def _files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.name != _MANIFEST
    )


def _manifest(entry: Path) -> dict[str, str]:
    hashes: dict[str, str] = json.loads(_regular(entry / _MANIFEST).read_bytes())
    return hashes


def _regular(file: Path) -> Path:
    """Raises OSError for a device, which has no end."""
    if not file.is_file():
        raise FileNotFoundError(file)
    return file


def _stamp(entry: Path) -> _Stamp:
    stats = [_regular(entry / name).stat() for name in (_MANIFEST, *_manifest(entry))]
    return tuple((file.st_size, file.st_mtime_ns, file.st_ino) for file in stats)


def _hash(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


# --- tidying ------------------------------------------------------------------------------------------


def _remove(entry: Path) -> None:
    """Out of sight at once; what another process still reads stays open for it."""
    if not entry.exists():
        return
    away = entry.with_name(f".{entry.name}.{os.getpid()}.old")
    entry.rename(away)
    shutil.rmtree(away, ignore_errors=True)


def _remove_unused(parent: Path) -> None:
    """Remove what processes left that are gone; once a day, too, entries that nobody has used for long."""
    with suppress(OSError):
        _remove_left(parent)
        searched, now = parent / _SEARCHED, time.time()
        if searched.exists() and now - searched.stat().st_mtime < _DAY:
            return
        searched.touch()
        for entry in parent.iterdir():
            if not entry.name.startswith(".") and now - entry.stat().st_mtime >= KEEP_DAYS * _DAY:
                _remove(entry)


def _remove_left(parent: Path) -> None:
    """Half entries and locks, ``.KEY.*``: whose lock is free nobody makes any more."""
    for key in {path.name[1:].partition(".")[0] for path in parent.glob(".*.*")}:
        lock = parent / f".{key}.lock"
        with suppress(OSError):
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(descriptor, lock):
                    for left in parent.glob(f".{key}.*"):
                        if left.is_dir():
                            shutil.rmtree(left, ignore_errors=True)
                    lock.unlink(missing_ok=True)
            finally:
                os.close(descriptor)
