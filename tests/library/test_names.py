"""The library's names: few, lazy, and not hidden by rooms of the same name."""

from __future__ import annotations

import subprocess
import sys

import pytest

import axiloom as ax


def test_at_most_fifteen_names_and_each_says_what_it_does() -> None:
    assert len(ax.__all__) <= 15
    assert [name for name in ax.__all__ if not (getattr(ax, name).__doc__ or "").strip()] == []
    assert set(ax.__all__) <= set(dir(ax))


def test_importing_touches_nothing_heavy() -> None:
    told = "import sys, axiloom; print({'numpy', 'amaranth', 'torch', 'z3'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_room_of_the_same_name_hides_no_function() -> None:
    told = "import axiloom.run.problem, axiloom.read, axiloom as a; print(callable(a.run), callable(a.read))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        ax.nothing  # type: ignore[attr-defined]  # noqa: B018
