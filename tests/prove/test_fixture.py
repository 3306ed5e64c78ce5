"""The pytest fixture ``prove``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from axiloom import isa
from axiloom.base.errors import SpecError
from axiloom.isa.formal.beats import Beats, model_of
from axiloom.prove import spec


def test_it_holds(prove: Callable[..., Any]) -> None:
    verdicts = prove("v1", size=4)
    assert len(verdicts) > 100
    assert all(one.good for one in verdicts)
    with pytest.raises(SpecError, match="there is no formal model of the form copy yet"):
        prove(isa.builtin("loopback"))


@pytest.mark.slow
def test_it_fails_in_words(
    prove: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AXILOOM_CACHE", str(tmp_path))

    def without(device: isa.AcceleratorSpec) -> Beats:
        """No instruction takes the last word of B."""
        beats = model_of(device)
        beats.ila.instructions[:] = [one for one in beats.ila.instructions if one.name != "sAsBcCrC.1.last"]
        return beats

    monkeypatch.setattr(spec, "model_of", without)
    with pytest.raises(pytest.fail.Exception) as failed:
        prove("v1_4", limit_s=5)
    lines = str(failed.value).splitlines()
    assert lines[0].startswith(
        "v1_4: v1_4: complete: where it is valid, one of its instructions is enabled; not so"
    )
    assert lines[-1].startswith("v1_4: simulator: functional model: both send the same words")
