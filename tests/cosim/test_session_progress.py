"""How far a run is: by the words that it has moved, or by the layer of a network."""

from __future__ import annotations

from axiloom.cosim.session import share_text


def test_words_say_how_far_a_run_is() -> None:
    assert share_text(250, 1000, 10.0) == "25 %, about 30 s left; "
    assert share_text(1100, 1000, 10.0) == "99 %, about 0 s left; "  # an estimate may be too low
    assert share_text(250, 0, 10.0) == ""
    assert share_text(0, 1000, 10.0) == ""
