"""Builds in the cache: made once, never seen in half, removed when nobody uses them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from axiloom.base import cache
from axiloom.base.errors import BuildError


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AXILOOM_CACHE", str(tmp_path / "cache"))


def _write(folder: Path) -> None:
    (folder / "made").write_text("x", encoding="utf-8")


def _age(path: Path, days: float) -> None:
    then = time.time() - days * 86_400
    os.utime(path, (then, then))


def test_a_build_is_made_once() -> None:
    first = cache.cached_build("kind", "key", _write)

    def again(folder: Path) -> None:
        raise AssertionError("it was there already")

    assert cache.cached_build("kind", "key", again) == first
    assert (first / "made").read_text(encoding="utf-8") == "x"


def test_a_build_that_fails_leaves_nothing() -> None:
    def fail(folder: Path) -> None:
        _write(folder)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.cached_build("kind", "key", fail)
    parent = cache.cache_root() / "kind"
    assert [path.name for path in parent.iterdir() if path.is_dir()] == []
    assert cache.cached_build("kind", "key", _write).is_dir()


def test_what_nobody_uses_is_removed() -> None:
    old, used = (cache.cached_build("kind", key, _write) for key in ("old", "used"))
    for path in (old, used):
        _age(path, cache.KEEP_DAYS + 1)
    assert cache.cached_build("kind", "used", _write) == used
    _age(old.parent / ".searched", 2)
    new = cache.cached_build("kind", "new", _write)
    assert not old.exists()
    assert not (old.parent / ".old.lock").exists()
    assert used.exists()
    assert new.exists()


def test_it_looks_once_a_day() -> None:
    old = cache.cached_build("kind", "old", _write)
    _age(old, cache.KEEP_DAYS + 1)
    cache.cached_build("kind", "new", _write)
    assert old.exists()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "flipped": lambda file: file.write_bytes(bytes([file.read_bytes()[0] ^ 1]) + file.read_bytes()[1:]),
    "cut": lambda file: os.truncate(file, file.stat().st_size // 2),
    "emptied": lambda file: os.truncate(file, 0),
    "deleted": lambda file: file.unlink(),
    "a folder": lambda file: (file.unlink(), file.mkdir()),
    "endless": lambda file: (file.unlink(), file.symlink_to("/dev/zero")),
}


@pytest.mark.parametrize("name", ["made", ".manifest"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_made_again(damage: str, name: str) -> None:
    entry = cache.cached_build("kind", "key", _write)
    before = (entry / name).stat()
    DAMAGES[damage](entry / name)
    if (entry / name).is_file():  # as a disk does it: dates say nothing
        os.utime(entry / name, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not cache.is_whole(entry, again=True)
    cache._CHECKED.clear()  # another process
    healed = cache.cached_build("kind", "key", _write)
    assert (healed / "made").read_text(encoding="utf-8") == "x"
    assert cache.is_whole(healed, again=True)


def test_a_relative_folder_is_the_same_for_programs_in_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AXILOOM_CACHE", "-cache")
    entry = cache.cached_build("kind", "key", _write)
    ask = "from axiloom.base import cache; print(cache.cache_root())"
    said = subprocess.run([sys.executable, "-c", ask], cwd="/", capture_output=True, text=True, check=True)
    assert said.stdout == f"{entry.parents[1]}\n" == f"{tmp_path}/-cache\n"


def test_values() -> None:
    with pytest.raises(cache.NotCachedError):
        cache.value("values", "a")
    for value in ([1, "two", None], None):
        cache.keep("values", "a", value)
        assert cache.value("values", "a") == value
    assert cache.remembered("values", "b", lambda: 5) == (5, False)
    assert cache.remembered("values", "b", lambda: 6) == (5, True)
    assert cache.remembered("values", "c", lambda: 5, lambda found: found > 5) == (5, False)
    assert cache.remembered("values", "c", lambda: 6, lambda found: found > 5) == (6, False)


def test_others_may_read_as_the_umask_says() -> None:
    before = os.umask(0o022)
    try:
        assert cache.cached_build("kind", "key", _write).stat().st_mode & 0o777 == 0o755
    finally:
        os.umask(before)


SHARED = """
import os, sys
from pathlib import Path
from axiloom.base import cache
from axiloom.base.errors import BuildError
os.setgid(65534); os.setuid(65534)
def write(folder): (folder / "made").write_text("y")
print(cache.cached_build("kind", "key", write), cache.cached_build("kind", "other", write))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="needs another user")
def test_a_cache_that_may_only_be_read(tmp_path: Path) -> None:
    """Another user takes what is there, and builds what is not in his own folder."""
    theirs = cache.cached_build("kind", "key", _write)
    own = tmp_path / "own"
    own.mkdir()
    own.chmod(0o777)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    environment = {**os.environ, "XDG_CACHE_HOME": str(own), "HOME": str(own)}
    done = subprocess.run(
        [sys.executable, "-c", SHARED], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.split() == [str(theirs), str(own / "axiloom" / "kind" / "other")]


def test_without_a_place_it_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("AXILOOM_CACHE", str(file))
    with pytest.raises(BuildError, match=r"the cache folder .*file cannot be written to: .*AXILOOM_CACHE"):
        cache.cached_build("kind", "key", _write)


def test_two_that_want_the_same_make_it_once(tmp_path: Path) -> None:
    made: list[int] = []

    def slow(folder: Path) -> None:
        made.append(1)
        time.sleep(0.2)
        _write(folder)

    with ThreadPoolExecutor(4) as pool:
        found = {pool.submit(cache.cached_build, "kind", "key", slow) for _ in range(4)}
    assert len({one.result() for one in found}) == 1
    assert len(made) == 1


def test_what_a_dead_process_left_goes_with_the_next_build() -> None:
    parent = cache.cached_build("kind", "key", _write).parent
    (parent / ".gone.abcd1234").mkdir()
    (parent / ".gone.lock").touch()
    cache.cached_build("kind", "other", _write)
    assert sorted(path.name for path in parent.iterdir()) == [".searched", "key", "other"]


def test_a_full_disk_is_told() -> None:
    def fill(folder: Path) -> None:
        raise BuildError("the linker says: cannot write: No space left on device")

    with pytest.raises(BuildError, match=r"No space left on device: .*free.*AXILOOM_CACHE"):
        cache.cached_build("kind", "key", fill)


SMALL = """
import json, os, sys
from axiloom.base import cache
from axiloom.cli import guarded
def fill(folder):
    try:
        (folder / "half").write_text(json.dumps(list(range(100_000))))
    except OSError:
        pass  # a tool that does not say so
    json.loads((folder / "half").read_text())
def build():
    cache.cached_build("kind", "key", fill)
def find():
    value, before = cache.remembered("kind", "key", lambda: "x" * 100_000)
    assert len(value) == 100_000 and not before
sys.exit(guarded({"build": build, "find": find}[sys.argv[1]]))
"""


@pytest.mark.parametrize(("command", "code", "says"), [("build", 5, "JSONDecodeError"), ("find", 0, "")])
def test_half_a_file_on_a_full_disk(tmp_path: Path, command: str, code: int, says: str) -> None:
    mount = ["unshare", "-rm", "sh", "-c", f'mount -t tmpfs -o size=64k none {tmp_path} && exec "$@"', "sh"]
    if subprocess.run([*mount, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    done = subprocess.run(
        [*mount, sys.executable, "-c", SMALL, command],
        env={**os.environ, "AXILOOM_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert done.stderr.count("\n") == bool(code)
    assert says in done.stderr
    assert not says or "No space left on device" in done.stderr
