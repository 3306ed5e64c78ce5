"""Units on real operands: what they lose, and that commands on the texts give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from tests.application.small import CONVOLUTION, Making, images, network, recurrent, sequences

from axiloom.accelerators.flexasr.linear import bytes_of, tensor
from axiloom.application.choose import observe
from axiloom.application.data import of_arrays
from axiloom.application.offload import offload
from axiloom.application.run import alone
from axiloom.application.units import rows
from axiloom.application.units.counts import Counts, Places, in_units
from axiloom.application.units.unit import Operator
from axiloom.base.errors import UsageError
from axiloom.graph import Graph
from axiloom.isa.numerics.adaptivfloat import from_fixed, to_fixed

NOTHING = lambda _: None  # noqa: E731


def taken(graph: Graph, arrays: Mapping[str, np.ndarray], *accelerators: str):
    """Operators with operands and ranges of the first call."""
    operators = offload(graph, accelerators).operators
    observed = observe(graph, operators, of_arrays(arrays, graph, "test"), NOTHING)
    return [(one, observed.operands[one.name], observed.ranges[one.name]) for one in operators]


CASES = [
    ("hlscnn", network(), images()),
    ("flexasr", network(), images()),
    ("vta", network(), images()),
    ("flexasr", recurrent(), sequences()),
    ("flexasr", recurrent(back=0.3), sequences()),
    ("flexasr", recurrent(hidden=72, width=16), sequences(hidden=72, width=16)),
]


@pytest.mark.every(5)
@pytest.mark.parametrize("numbers", ["published", "chosen"])
@pytest.mark.parametrize(("accelerator", "graph", "arrays"), CASES)
def test_commands_give_the_same(
    accelerator: str, graph: Graph, arrays: dict[str, np.ndarray], numbers: str
) -> None:
    for operator, operands, ranges in taken(graph, arrays, accelerator):
        settings = getattr(operator.unit, numbers)(operator, ranges)
        for seed in range(3):
            call = operator.unit.replay(operator, operands, settings, np.random.default_rng(seed))
            assert call.wanted.size
            assert np.array_equal(call.wanted, call.text()), (operator.name, call.what)


@pytest.mark.every(6)
@pytest.mark.parametrize("numbers", ["published", "chosen"])
@pytest.mark.parametrize(("accelerator", "graph", "arrays"), CASES[1:])
def test_rtl_gives_the_same(
    accelerator: str, graph: Graph, arrays: dict[str, np.ndarray], numbers: str
) -> None:
    for operator, operands, ranges in taken(graph, arrays, accelerator):
        settings = getattr(operator.unit, numbers)(operator, ranges)
        call = operator.unit.replay(operator, operands, settings, np.random.default_rng(1))
        assert call.rtl is not None
        assert np.array_equal(call.wanted, call.rtl()), (operator.name, call.what)


@pytest.mark.parametrize(("accelerator", "graph", "arrays"), CASES)
def test_settings_from_ranges_come_near_float32(
    accelerator: str, graph: Graph, arrays: dict[str, np.ndarray]
) -> None:
    """Within a few percent, of 5 or 8 significant bits; without scales the published ones need not."""
    for operator, operands, ranges in taken(graph, arrays, accelerator):
        settings, reference = operator.unit.chosen(operator, ranges), alone(operator, operands)
        found = operator.unit.run(operator, operands, settings, Places())
        assert found.dtype == np.float32
        assert found.shape == reference.shape
        assert np.linalg.norm(found - reference) < 0.06 * np.linalg.norm(reference)
        assert not [*operator.unit.wrong(settings)]


def test_windows_are_the_convolution() -> None:
    """im2col beside the graph's own convolution."""
    for changes in (
        {},
        {"strides": (1, 1), "padding": (0, 0, 0, 0)},
        {"strides": (3, 2), "padding": (2, 1, 0, 1)},
    ):
        graph = network(**changes)
        (operator, operands, _), _ = taken(graph, images(), "flexasr")
        made = rows.product(operator.inside, operands)
        found = rows.back(operator.inside, made.x @ made.w.T + made.b)
        assert np.allclose(found, alone(operator, operands), atol=1e-5)


def _settings(operator: Operator, ranges: Mapping[str, float], **more: int) -> dict[str, int]:
    return {**operator.unit.chosen(operator, ranges), **more}


def test_every_knob_does_something() -> None:
    """A knob that nothing reads would be a promise. What is lost depends on numbers that are lost."""
    lossy = {
        "saturated_sign": ("output_bias", "activation_bias"),
        "saturate": ("input_exponent",),
        "nearest": (),
    }
    for accelerator, graph, arrays in CASES[:4]:
        for operator, operands, ranges in taken(graph, arrays, accelerator):
            base = _settings(operator, ranges)
            for name, knob in operator.unit.knobs.items():
                if name == "order" or (name == "added_bias" and len(operands) == 2):
                    continue
                others = {key: 0 for key in lossy.get(name, ()) if key in base}
                if name == "saturate":  # only where running sums are too large
                    others = {"input_exponent": base["input_exponent"] + 6}
                ends = (
                    [knob.low, knob.high]
                    if knob.high < 8 or name == "ac_math"
                    else [base[name], base[name] + 1]
                )
                made = [
                    operator.unit.run(operator, operands, {**base, **others, name: end}, Places())
                    for end in ends
                ]
                assert not np.array_equal(*made), (operator.unit.name, name)


def test_the_order_of_channels_matters_where_running_sums_saturate() -> None:
    """Large channels first: the sum saturates, though all together are small."""
    make = Making()
    x = make.parameter("x", 1, 16, 1, 1)
    weights = np.zeros((1, 16, 1, 1))
    weights[0, 0], weights[0, 8], weights[0, 9] = 1.5, 0.5, -1.5
    same = {**CONVOLUTION, "strides": (1, 1), "padding": (0, 0, 0, 0)}
    graph = make.graph(make.op("convolution", x, make.constant("w", weights), place="conv", **same), x)
    image = np.full((1, 16, 1, 1), 200, np.float32)
    ((operator, operands, ranges),) = taken(graph, {"x": image}, "hlscnn")
    assert ranges["output"] == 100
    plain = {**operator.unit.published(operator, ranges), "weight_bytes": 2}
    places = Places()
    assert operator.unit.run(operator, operands, plain, places).item() < 60
    assert places["sums"].saturated == 1
    (change,) = (one for one in operator.unit.changes(plain, ranges, places) if "order" in one.why)
    assert "another order" in change.why
    assert operator.unit.run(operator, operands, change.settings, Places()).item() == 100
    call = operator.unit.replay(operator, operands, change.settings, np.random.default_rng(0))
    assert np.array_equal(call.wanted, call.text())


def test_what_a_host_loses_is_counted() -> None:
    """Beside numbers that say it themselves."""
    counts = Counts()
    assert tensor(np.array([1e-9, -1.9, 1.9375, 3.0, 0.0]), 3, counts).tolist()[-1] == 0
    assert (counts.elements, counts.saturated, counts.flushed) == (5, 1, 1)
    counts = Counts()
    tensor(
        np.ldexp(np.array([17 / 32, 17 / 32 - 0.01, 31.4 * 8, 31.6 * 8]), -10), 0, counts
    )  # halves of the ends
    assert (counts.saturated, counts.flushed) == (1, 1)
    counts = Counts()
    assert in_units(
        np.array([-0.001, 0.009, 300.0, -300.0]), 7, 16, counts, least=-(1 << 15), nearest=False
    ).tolist() == [
        -1,
        1,
        32767,
        -32768,
    ]
    assert (counts.saturated, counts.flushed) == (2, 0)
    counts = Counts()
    assert in_units(np.array([0.003, 0.0]), 7, 16, counts, nearest=False).tolist() == [0, 0]
    assert counts.flushed == 1
    counts = Counts()
    assert in_units(np.array([0.4, 127.4, 200.0, -128.0]), 0, 8, counts).tolist() == [0, 127, 127, -127]
    assert (counts.saturated, counts.flushed) == (2, 1)


def test_bytes_of_values() -> None:
    every = np.arange(256, dtype=np.uint8)
    values = to_fixed(every, 0)
    assert np.array_equal(to_fixed(bytes_of(values), 0), values)
    assert np.array_equal(bytes_of(values)[1:128], from_fixed(values, 0)[1:128])


def test_a_state_before_is_refused() -> None:
    graph, arrays = recurrent(), sequences()
    ((operator, operands, ranges),) = taken(graph, arrays, "flexasr")
    other = [*operands[:1], operands[1] + 1, *operands[2:]]
    with pytest.raises(UsageError, match=r"lstm: flexasr.lstm starts from zeros"):
        operator.unit.run(operator, other, operator.unit.chosen(operator, ranges), Places())


@pytest.mark.parametrize(
    ("changes", "accelerator", "why"),
    [
        ({"feature_group_count": 5}, "hlscnn", "5 groups"),
        ({"rhs_dilation": (2, 1)}, "flexasr", "a dilated convolution"),
        ({"padding": (1, 1, -1, 0)}, "vta", "a convolution that cuts its image"),
        ({"strides": (8, 1)}, "hlscnn", "registers hold less"),
    ],
)
def test_what_is_not_taken_says_why(changes: dict[str, object], accelerator: str, why: str) -> None:
    if changes.get("feature_group_count"):
        make = Making()
        x = make.parameter("x", 1, 5, 9, 8)
        w = make.weights("w", 10, 1, 3, 2)
        graph = make.graph(make.op("convolution", x, w, place="conv", **{**CONVOLUTION, **changes}), x)
        with pytest.raises(UsageError, match=why):
            offload(graph, (accelerator,))
        return
    graph = network(**changes)
    found = offload(replace(graph), (accelerator, "vta") if accelerator == "hlscnn" else (accelerator,))
    if accelerator == "hlscnn":
        assert {one.unit.name for one in found.operators} == {"vta.gemm"}
    else:
        assert [place for place, _ in found.kept] == ["conv"]
        assert why in found.kept[0][1]
