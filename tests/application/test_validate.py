"""Applications as a whole: what is offloaded, judged, chosen and advised; and what of it is caught."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.application.small import Making, images, network, recurrent, sequences

from axiloom.accelerators.flexasr import numbers as flexasr
from axiloom.accelerators.flexasr import on_rtl as flexasr_on_rtl
from axiloom.accelerators.hlscnn import numbers as hlscnn
from axiloom.application import page, result, text
from axiloom.application.data import Data, of_arrays
from axiloom.application.metrics import METRICS
from axiloom.application.offload import offload
from axiloom.application.units import on_rtl
from axiloom.application.validate import Request, Validated, validate
from axiloom.base.errors import BuildError, DriverError, UsageError
from axiloom.graph.evaluate import evaluate


def labelled() -> Data:
    """Images whose labels are what float32 answers: 100 % by definition."""
    graph, arrays = network(), images()
    answers = [
        evaluate(graph, {"x": part})[0].argmax(-1)
        for part in arrays["x"].reshape(2, 3, *arrays["x"].shape[1:])
    ]
    return of_arrays({**arrays, "labels": np.concatenate(answers)}, graph, "test")


def found(graph=None, data=None, **request) -> Validated:
    data = labelled() if data is None else data
    options = {"accelerators": ("hlscnn", "flexasr"), **request}
    return validate(graph or network(), data, Request(**options))


def lstm(**request) -> Validated:
    graph = recurrent()
    return found(
        graph, of_arrays(sequences(), graph, "test"), accelerators=("flexasr",), metric="error", **request
    )


def test_operators_go_to_the_first_that_takes_them() -> None:
    def units(*accelerators: str) -> list[str]:
        return [one.unit.name for one in offload(network(), accelerators).operators]

    assert units("hlscnn", "flexasr") == ["hlscnn.conv", "flexasr.linear"]
    assert units("flexasr", "hlscnn") == ["flexasr.linear", "flexasr.linear"]
    assert units("vta") == ["vta.gemm", "vta.gemm"]
    assert units("hlscnn") == ["hlscnn.conv"]
    assert units("flexasr.linear") == units("flexasr")
    bias = offload(network(), ("vta",)).operators[1]
    assert [one.op for one in bias.inside] == ["dense", "bias_add"]


def test_a_bias_that_others_use_too_is_not_inside() -> None:
    make = Making()
    x = make.parameter("x", 2, 16)
    y = make.op("dense", x, make.weights("w", 4, 16), number="float32", place="dense")
    z = make.op("bias_add", y, make.weights("b", 4), dimension=1)
    (operator,) = offload(make.graph(make.op("add", y, z), x), ("flexasr",)).operators
    assert [one.op for one in operator.inside] == ["dense"]


@pytest.mark.slow
def test_wide_numbers_answer_as_float32() -> None:
    one = found(replays=4)
    assert (one.run.exact, one.run.found, one.run.data) == (100, 100, 6)
    assert one.run.output.percent < 3
    assert [part.where for part in one.replayed].count("text") == 4
    assert not any(part.wrong for part in one.replayed)


def test_errors_are_those_of_two_runs() -> None:
    """Taken by hand: the operator in both numbers on both inputs."""
    graph, data = network(), labelled()
    one = found(graph, data, numbers="published")
    conv, dense = one.offloaded.operators
    own = carried = reference = exact_reference = 0.0
    from axiloom.application.run import alone
    from axiloom.application.units.counts import Places

    for call in data.calls:
        weights = {name: graph.constants[name] for name in graph.constants}
        seen = conv.unit.run(conv, [call["x"], weights["conv.w"]], one.plan["conv"], Places())
        seen_exact = alone(conv, [call["x"], weights["conv.w"]])
        flat, flat_exact = (np.maximum(y, 0).reshape(3, -1) for y in (seen, seen_exact))
        last = [weights["dense.w"], weights["dense.b"]]
        result_ = dense.unit.run(dense, [flat, *last], one.plan["dense.bias"], Places())
        here, exact = alone(dense, [flat, *last]), alone(dense, [flat_exact, *last])
        own, reference = own + np.sum((result_ - here) ** 2), reference + np.sum(here**2)
        carried += np.sum((result_ - exact) ** 2)
        exact_reference += np.sum(exact**2)
    seen_ = one.run.seen["dense.bias"]
    assert seen_.own.percent == pytest.approx(100 * np.sqrt(own / reference), rel=1e-4)
    assert seen_.carried.percent == pytest.approx(100 * np.sqrt(carried / exact_reference), rel=1e-4)
    assert one.run.output.percent == pytest.approx(seen_.carried.percent)


def test_the_lstm_leads_to_its_cause() -> None:
    """With one bias from the result the cell's state saturates; the advice is the bias of the state."""
    before = lstm(numbers="published", advise=2)
    (seen,) = before.run.seen.values()
    assert seen.own.steps[0] < 5
    assert seen.own.steps[-1] > 30
    assert seen.places["cell"].saturated
    assert "of cell saturated" in result.causes(before)[0]
    assert before.advised is not None
    best = before.advised.advice[0]
    assert "the cell's state reaches" in best.why or "checked pass" in best.why
    assert best.gain > 0.8 * before.run.found
    wide = next(one for one in before.advised.advice if "the cell's state reaches" in one.why)
    sets = tuple(
        (n, k.split("=")[0], int(k.split("=")[1])) for n, _, k in (o.rpartition(".") for o in wide.options)
    )
    after = lstm(numbers="published", sets=sets)
    assert after.run.found == pytest.approx(wide.figure)
    assert max(after.run.seen["lstm"].own.steps) < 8


def test_a_result_read_with_another_bias_is_named() -> None:
    written = ("lstm", "activation_bias", 4)
    one = lstm(sets=(("lstm", "hidden_bias", 7), written, ("lstm", "output_exponent", 0)))
    assert one.wrong["lstm"] == ("the result is written with bias 4 and read back with 7: 8 times as large",)
    assert "8 times as large" in text.text(one)
    one = lstm(sets=(("lstm", "hidden_bias", 4), written, ("lstm", "output_exponent", 2)))
    assert one.wrong["lstm"] == (
        "the result is written with bias 4, 4 times as large, and read back with 4: 4 times as large",
    )


def test_a_result_that_shares_the_state_s_bias_is_emitted_larger() -> None:
    """The pass chooses it, the error falls, and the host reads back what was meant."""
    larger = lstm()
    chosen = dict(larger.plan["lstm"])
    assert chosen["output_exponent"] > 0
    assert chosen["hidden_bias"] == chosen["activation_bias"] - chosen["output_exponent"]
    plain = lstm(sets=(("lstm", "output_exponent", 0), ("lstm", "hidden_bias", chosen["activation_bias"])))
    after, before = (one.run.seen["lstm"] for one in (larger, plain))
    assert after.own.percent < 0.95 * before.own.percent
    assert after.places["output"].flushed < before.places["output"].flushed
    assert not larger.wrong["lstm"]


def test_bytes_of_weights_lead_to_their_cause() -> None:
    """Small weights in bytes are flushed; 16 bits, or a scale, bring the answers back."""
    graph = network()
    small = {**graph.constants, "conv.w": graph.constants["conv.w"] / 32}
    graph = replace(graph, constants=small)
    one = found(graph, labelled(), numbers="published", metric="error", advise=2)
    assert one.run.seen["conv"].places["weights"].flushed > 50
    advised = one.advised
    assert advised is not None
    by_why = {part.why: part for part in advised.advice}
    wide, scaled = by_why["weights of 16 bits (Q2.14)"], by_why["kernels scaled to their format"]
    assert wide.error < 0.6 * advised.error
    assert scaled.error < 0.6 * advised.error
    assert wide.options == ("*.weight_bytes=2",)


def test_the_checked_pass_is_no_worse_than_ranges() -> None:
    for one in (found(), lstm()):
        assert one.checked
        for checked in one.checked.values():
            assert checked.searched <= checked.by_range
            assert not checked.wrong


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("module", "name", "wrong"),
    [
        (hlscnn, "NARROWED", 10),
        (hlscnn, "CUT", 4),
        (flexasr, "FRACTION", 13),
        (flexasr, "_packed", lambda bias, sign: np.zeros(1 << 20, np.uint16)),
    ],
)
def test_numbers_that_are_not_the_device_s_are_caught(
    module: object, name: str, wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mutant of whole arrays: sampled calls differ from the commands."""
    monkeypatch.setattr(module, name, wrong)
    one = found(replays=4)
    assert any(part.wrong for part in one.replayed)


def seen_on(one: Validated) -> set[tuple[str, str, int]]:
    return {(part.operator, part.where, part.wrong) for part in one.replayed}


def test_sampled_calls_run_on_rtl_where_there_is_rtl() -> None:
    one = found(replays=2)
    assert seen_on(one) == {("conv", "text", 0), ("dense.bias", "text", 0), ("dense.bias", "RTL", 0)}
    shown = text.text(one)
    assert "1 sampled call on the RTL: 21 of 21 results alike" in shown
    assert "On the accelerator's text alone, not on RTL: hlscnn.conv: there is none." in shown


def test_rtl_that_is_another_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units whose saturated numbers have another sign; the command's exit code follows `wrong`."""
    graph = network()
    data = of_arrays({"x": 100 * images()["x"], "labels": np.zeros(6, int)}, graph, "large")
    options = {"accelerators": ("flexasr",), "numbers": "published", "replays": 1}
    assert sum(part.wrong for part in found(graph, data, **options).replayed) == 0
    of = flexasr_on_rtl._device
    other = flexasr.Version(saturated_sign=1)
    monkeypatch.setattr(flexasr_on_rtl, "_device", lambda version: of(other))
    one = found(graph, data, **options)
    assert sum(part.wrong for part in one.replayed if part.where == "text") == 0
    assert sum(part.wrong for part in one.replayed if part.where == "RTL") > 0
    assert "on RTL:" in text.text(one)


@pytest.mark.parametrize(
    ("error", "wrong", "said"),
    [
        (DriverError("no end after 5 cycles"), 21, "(no end after 5 cycles), on RTL: 21 differ"),
        (BuildError("no C++ compiler"), 0, "not on RTL: dense.bias: no C++ compiler"),
        (ValueError("no room"), 0, "dense.bias: no room"),
    ],
)
def test_rtl_that_does_not_run_is_told(
    error: Exception, wrong: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of the RTL is a difference; what cannot be tried is none, and is said."""

    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(on_rtl, "execute", fails)
    one = found(replays=2)
    assert sum(part.wrong for part in one.replayed) == wrong
    assert said in text.text(one)


def test_metrics() -> None:
    logits = np.log(np.array([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]]))
    accuracy, perplexity = METRICS["accuracy"], METRICS["perplexity"]
    assert accuracy.told(*accuracy.of(logits, np.array([0, 1]), logits)) == 50
    told = perplexity.told(*perplexity.of(logits, np.array([1, 2]), logits))
    assert told == pytest.approx(np.exp(-(np.log(0.25) + np.log(0.8)) / 2))
    assert (accuracy.gain(50, 60), perplexity.gain(50, 60)) == (10, -10)
    error = METRICS["error"]
    assert error.told(*error.of(1.1 * logits, None, logits)) == pytest.approx(10)


def test_data_are_cut_into_calls() -> None:
    graph = network()
    cut = of_arrays(images(), graph, "x")
    whole = of_arrays({"x": images()["x"].reshape(2, 3, 5, 9, 8)}, graph, "x")
    assert cut.data == whole.data == 6
    assert all(np.array_equal(a["x"], b["x"]) for a, b in zip(cut.calls, whole.calls, strict=True))
    (call,) = of_arrays({"x": images()["x"][:5]}, graph, "x").calls  # what fills no call is left out
    assert np.array_equal(call["x"], images()["x"][:3])


@pytest.mark.parametrize(
    ("arrays", "why"),
    [
        ({"x": np.zeros((2, 5, 9, 8), np.float32)}, "2 rows, fewer than the 3 of a call"),
        ({"x": np.zeros((3, 5, 9, 7), np.float32)}, r"x is \[3, 5, 9, 7\]; needed is \[calls, 3, 5, 9, 8\]"),
        ({"x": np.zeros((3, 5, 9, 8), np.int64)}, "x is of int64; needed is float32"),
        ({"x": images()["x"], "y": images()["x"]}, "arrays x, y; needed are x"),
        ({**images(), "labels": np.zeros(5, int)}, "5 labels for 2 calls of 3 results"),
        ({**images(), "labels": np.zeros(6)}, "labels are float64, not integers"),
    ],
)
def test_data_that_do_not_fit_are_refused(arrays: dict[str, np.ndarray], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        of_arrays(arrays, network(), "data")


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ({"accelerators": ("nope",)}, "--accel nope: no units of it; there are flexasr, hlscnn, vta"),
        ({"accelerators": ("vta", "vta.gemm")}, "vta.gemm is named twice"),
        ({"sets": (("conv", "nope", 1),)}, "no such knob; there are hlscnn.conv: weight_bytes"),
        ({"sets": (("nope", "shift", 1),)}, r"no such operator; there are \*, conv, dense.bias"),
        ({"sets": (("*", "weight_bytes", 3),)}, "weight_bytes=3: 1 to 2"),
        ({"data": of_arrays(images(), network(), "d")}, "--metric accuracy: d has no labels"),
    ],
)
def test_what_cannot_be_is_refused(request_: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        found(**request_)


def test_page_text_and_json_say_the_same() -> None:
    one = found(numbers="published", advise=1, replays=2)
    told = json.loads(json.dumps(result.as_json(one)))
    shown, html = text.text(one), page.render(one, "axiloom validate")
    assert told["found"] == one.run.found
    for operator in told["operators"]:
        for where in (shown, html):
            assert operator["name"] in where
            assert f"{operator['own_error_percent']:.2f}" in where
        lost = [
            sum(part[kind] for part in operator["places"].values())
            for kind in ("saturated", "flushed", "wrapped")
        ]
        (line,) = (one for one in shown.splitlines() if one.startswith(f"{operator['name']}  "))
        assert line.split()[-3:] == [f"{one:,}" for one in lost]
        for part in operator["places"].values():
            assert not part["flushed"] or f'data-of="flushed">{part["flushed"]:,} (' in html
    assert any(part["flushed"] for one_ in told["operators"] for part in one_["places"].values())
    assert told["without_rtl"] == {"hlscnn.conv": "there is none"}
    for part in told["advised"]["advice"]:
        assert f"{part['error']:.2f} %" in html
    assert html == page.render(replace(one), "axiloom validate")


def test_the_page_of_steps_has_a_bar_for_each(tmp_path: Path) -> None:
    page.write(lstm(), tmp_path / "x.html", "axiloom validate")
    html = (tmp_path / "x.html").read_text()
    assert html.count("<title>step ") == 2 * 8  # wide, and narrow
