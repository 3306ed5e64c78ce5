"""A network whose products are chosen: never slower than matching; matching where nothing can be chosen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from axiloom import isa
from axiloom.cosim.system import System
from axiloom.read.mlir.model import read as read_model
from axiloom.run.network import Network, NetworkRun
from axiloom.run.run import report_of

pytest.importorskip("egglog")
pytest.importorskip("ortools")

FIXTURES = Path(__file__).parents[1] / "fixtures" / "quantised"


def run_of(name: str, *accelerators: str) -> NetworkRun:
    model = read_model(FIXTURES / f"{name}.mlir")
    specs = [isa.builtin(one, data_type="int8") for one in accelerators]
    system = System(isa.place(specs) if len(specs) > 1 else specs[0])
    return NetworkRun(Network(name, model.mlir, model.weights), system, auto=True)


def cycles(run: NetworkRun) -> int:
    report = report_of(run)
    assert report["result"]["matches"], report["result"]
    return report["fabric"]["cycles"]


@pytest.mark.parametrize(
    ("name", "accelerators"),
    [
        ("digits_mlp", ("v4_16",)),
        pytest.param("digits_mlp", ("conv_v4", "v4_16"), marks=pytest.mark.slow),
        pytest.param("digits_cnn", ("v4_16",), marks=pytest.mark.slow),
        pytest.param("digits_cnn", ("conv_v4", "v4_16"), marks=pytest.mark.slow),
    ],
)
def test_never_slower_than_matching(name: str, accelerators: tuple[str, ...]) -> None:
    """That is why it is the default; ``python -m benchmarks select_networks`` has the larger networks."""
    matching = run_of(name, *accelerators)
    egraph = replace(matching, selecting=True)
    if egraph.driver.sources != matching.driver.sources:  # else it is the same program
        assert cycles(egraph) <= cycles(matching)
    (made, *rest) = egraph.chooser.summary()
    assert f"{len(egraph.chooser.rows())} products" in made
    assert len(rest) == (len(accelerators) > 1)


def test_matching_where_nothing_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    from axiloom.selection.egraph.saturated import SaturationError
    from axiloom.selection.partition import choose

    def dies(*_: object) -> None:
        raise SaturationError("the engine of egraphs died")

    monkeypatch.setattr(choose, "forms", dies)
    matching = run_of("digits_mlp", "v4_16")
    default = replace(matching, selecting=True, or_matching=True)
    assert default.driver.sources == matching.driver.sources
    assert default.why_matching == "the engine of egraphs died"
    assert default.config()["select"] == "matching"
    assert default.config()["select_because"] == "the engine of egraphs died"
    with pytest.raises(SaturationError):
        _ = replace(default, or_matching=False).driver
