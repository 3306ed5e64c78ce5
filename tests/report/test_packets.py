"""Of commands and of circuits of loops: no passes of another compiler, and proofs as they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from axiloom import isa
from axiloom.isa.check.link import link
from axiloom.report import losses, proved


def _of_the_compiler(device: isa.AcceleratorSpec) -> list[str]:
    remedies = [one for loss in losses.CLASSES for one in losses.remedies(loss, device, None)]
    return [one for one in remedies if "pipeline" in one or "flow" in one]


def test_commands_have_no_passes() -> None:
    assert _of_the_compiler(isa.builtin("v3_8"))
    assert not _of_the_compiler(isa.AcceleratorSpec(link("device")))


@pytest.mark.parametrize("packets", [None, (8, 8)])
def test_proofs_are_said_as_they_are(packets: tuple[int, int] | None) -> None:
    assert "--accel" not in proved.line(isa.AcceleratorSpec(replace(link("device"), packets=packets)))
