"""What the last run of a driver moved is known to the next one, also after the driver was changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from axiloom.cosim import last_run


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AXILOOM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_by_files_and_accelerator(tmp_path: Path) -> None:
    files = [tmp_path / "a.c", tmp_path / "b.c"]
    assert last_run.words(files, "v3") == 0
    last_run.keep(files, "v3", 123)
    last_run.keep(files, "v3", 456)
    assert last_run.words(files, "v3") == 456
    assert last_run.words(files, "v4") == 0
    assert last_run.words(files[:1], "v3") == 0


def test_a_broken_count_is_none_and_a_cache_that_cannot_be_written_no_fault(
    tmp_path: Path, cache: Path
) -> None:
    files = [tmp_path / "a.c"]
    last_run.keep(files, "v3", 9)
    (kept,) = (cache / last_run.KIND).glob("[!.]*")
    (kept / "value.json").write_text("no number")
    assert last_run.words(files, "v3") == 0
    shutil.rmtree(cache / last_run.KIND)
    (cache / last_run.KIND).write_text("a file where a folder should be")
    last_run.keep(files, "v3", 9)
    assert last_run.words(files, "v3") == 0
