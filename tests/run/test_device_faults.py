"""Faults in the devices of examples/hardware are named: a hang, a wrong result, an access outside."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from benchmarks.simulation import device_faults as injected

from axiloom.hw.rtl_files.vhdl import SUFFIXES

DEFAULT = ("vadd_m_axi", "gain16")
"""The others are like them."""


def cases(kind: str) -> list[object]:
    found: list[object] = []
    for device in injected.DEVICES:
        marks = [] if device.folder in DEFAULT else [pytest.mark.slow]
        if device.files[0].endswith(tuple(SUFFIXES)):
            marks.append(pytest.mark.skipif(shutil.which("ghdl") is None, reason="needs ghdl"))
        for edit in getattr(device, kind):
            found.append(pytest.param(device, edit, marks=marks, id=f"{device.folder}: {edit.what}"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("device", "edit"), cases("rtl"))
def test_faults_in_rtl(device: injected.Device, edit: injected.Edit, tmp_path: Path) -> None:
    assert edit.named in injected.said_of_rtl(device, edit, tmp_path)


@pytest.mark.every(7)
@pytest.mark.parametrize(("device", "edit"), cases("driver"))
def test_faults_in_drivers(device: injected.Device, edit: injected.Edit, tmp_path: Path) -> None:
    assert edit.named in injected.said_of_driver(device, edit, tmp_path)
