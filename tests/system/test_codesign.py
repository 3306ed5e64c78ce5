"""Hardware chosen together with its drivers, from the command line to a run on what was chosen.

The arrays are small, and both tests come to the same design: Yosys still takes a minute for one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from axiloom import isa
from axiloom.cli import main
from axiloom.explore import hardware
from axiloom.isa.contract.types import TileRule

NETWORK = Path(__file__).parents[1] / "fixtures" / "quantised" / "digits_mlp.mlir"

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def small_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "MACS", (4, 8))
    monkeypatch.setattr(hardware, "BUFFERS", (1,))


def explored(work: str, folder: Path) -> dict[str, Any]:
    """What ``axiloom explore`` chose under a XC7Z010, and wrote to chosen.json."""
    base = isa.revise(
        isa.builtin("v4_16", data_type="int8"),
        tile=TileRule((16, 16, 16), (4, 4, 4)),
        buffers=dict.fromkeys("ABC", 256),
        macs=4,
    )
    (folder / "base.json").write_text(isa.dumps(base), encoding="utf-8")
    command = ["explore", work, "--spec", str(folder / "base.json"), "--device", "xc7z010", "--confirm", "1"]
    kept = ("--stream-width", "64", "--dma", "simple")
    files = ("--json", str(folder / "found.json"), "--save-spec", str(folder / "chosen.json"))
    assert main([*command, *kept, *files]) == 0
    found: dict[str, Any] = json.loads((folder / "found.json").read_text())["hardware"]
    chosen = found["chosen"]
    assert chosen["fits"]
    assert all(used <= found["limits"][name] for name, used in chosen["resources"].items())
    assert found["factor_is"] == "simulated"
    assert chosen["simulated_ms"] < found["base"]["simulated_ms"]
    assert found["factor"] == pytest.approx(found["base"]["simulated_ms"] / chosen["simulated_ms"], rel=1e-3)
    spec = isa.load(folder / "chosen.json")
    assert (spec.name, spec.macs) == (chosen["name"], chosen["macs"])
    assert (spec.link.stream_width, spec.link.dma.scatter_gather) == (64, False)
    return found


def simulated(work: str, folder: Path, *options: str) -> float:
    """Milliseconds of ``axiloom run`` on what was chosen; its result is right."""
    report = folder / "report.json"
    command = ["run", work, "--spec", str(folder / "chosen.json"), "--flow", "best", "--json", str(report)]
    assert main([*command, *options]) == 0
    return float(json.loads(report.read_text())["counters"]["task-clock"]) / 1e6


def test_one_product(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = explored("matmul:48x48x48:int8", tmp_path)
    printed = capsys.readouterr().out
    assert f"{found['chosen']['name']} fits xc7z010: " in printed
    assert printed.count("matmul:48x48x48:int8 on ") == 2  # the drivers of both
    assert found["chosen"]["predicted_ms"] == pytest.approx(found["chosen"]["simulated_ms"], rel=0.1)
    assert simulated("matmul:48x48x48:int8", tmp_path) == pytest.approx(
        found["chosen"]["simulated_ms"], rel=0.02
    )


def test_a_network(tmp_path: Path) -> None:
    found = explored(str(NETWORK), tmp_path)
    assert sum(one["count"] for one in found["base"]["products"]) >= 2
    # As `explore` simulated it: no product is left to the CPU.
    assert simulated(str(NETWORK), tmp_path, "--offload", "all") == pytest.approx(
        found["chosen"]["simulated_ms"], rel=0.02
    )
