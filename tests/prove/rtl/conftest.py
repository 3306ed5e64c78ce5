"""Proofs of whole devices."""

from __future__ import annotations

import pytest

from axiloom.prove.rtl.opcodes import overlap


@pytest.fixture
def eight_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that do not wait are eight, not as many as two minutes allow, which are most of such a proof."""
    monkeypatch.setattr(overlap, "MOST_WORDS", 8)
