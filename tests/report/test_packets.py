"""Of commands and of circuits of loops: no passes of another compiler, and proofs as they are."""

from __future__ import annotations

import pytest

from axiloom import isa
from axiloom.isa.kernels.forms import PACKETS
from axiloom.report import losses, proved
from axiloom.selection.drive.specification import specification


def _of_the_compiler(spec: isa.AcceleratorSpec) -> list[str]:
    remedies = [one for loss in losses.CLASSES for one in losses.remedies(loss, spec, None)]
    return [one for one in remedies if "pipeline" in one or "flow" in one]


def test_commands_have_no_passes() -> None:
    spec = specification("device")
    assert spec.form in PACKETS
    assert _of_the_compiler(isa.builtin("v3_8"))
    assert not _of_the_compiler(spec)


@pytest.mark.parametrize("form", [one.name for one in PACKETS])
def test_proofs_are_said_as_they_are(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = specification("device")
    monkeypatch.setattr(type(spec), "form", next(one for one in PACKETS if one.name == form))
    assert "--accel" not in proved.line(spec)
