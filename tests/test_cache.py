"""Builds in the cache: made once, never seen in half, removed when nobody uses them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from axiloom import cache


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
    _age(old.parent / ".looked", 2)
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
