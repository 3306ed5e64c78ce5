"""The file of a sweep: appended to, locked, repaired."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from axiloom.base.errors import UsageError
from axiloom.sweep.store import Store, key


def record(n: int) -> dict[str, object]:
    return {"key": f"k{n}", "point": {"n": n}, "result": n * n}


def test_records_come_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "s.jsonl"
    with Store(path) as store:
        for n in range(3):
            store.append(record(n))
        assert list(store.records) == ["k0", "k1", "k2"]
    with Store(path) as store:
        assert store.records == {f"k{n}": record(n) for n in range(3)}
        assert store.repaired == 0


@pytest.mark.parametrize("cut", [1, 7, 30])
def test_a_torn_last_line_is_removed(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "s.jsonl"
    with Store(path) as store:
        store.append(record(0))
        store.append(record(1))
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    with Store(path) as store:
        assert list(store.records) == ["k0"]
        assert store.repaired == len(whole) // 2 - cut
        store.append(record(1))
    assert path.read_bytes() == whole


def test_a_line_of_something_else_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(record(0)) + "\n[1, 2]\n")
    with pytest.raises(UsageError, match=r"s\.jsonl: line 2 is not a result of a sweep"):
        Store(path)
    assert path.read_text().endswith("[1, 2]\n")  # nothing was touched


def test_only_one_sweep_writes(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with Store(path), pytest.raises(UsageError, match="another sweep is writing to it"):
        Store(path)
    Store(path).close()


def test_a_key_is_the_content() -> None:
    assert key({"a": 1, "b": (2, 3)}) == key({"b": [2, 3], "a": 1})
    assert key({"a": 1}) != key({"a": 2})
    with pytest.raises(UsageError, match="must be JSON"):
        key({"a": object()})
