"""Whole applications in accelerators' numbers, beside table 4 of 3LA (Huang et al., TODAES 2024).

For each: float32, the numbers as the published drivers set them, those that the checked pass chooses, and the
time of a datum. Then the LSTM's error by time step on random weights, beside the published one
(`op_sim/summary.json` of LeeOHzzZ/3la_ILA_tensor_op), which grows to 60 % and more.

Ours are trained on other data (examples/applications/train.py): figures beside each other say whether a drop
is there and whether it goes, not the same drop. EfficientNet and the Transformer have weights of a seed: of
them there is the error of the result. Needs [select,torch] and scikit-learn.

In the last row of each size the checked pass chooses for each layer from sequences of its own, which are not
those that the error is measured on.

``AXILOOM_APPLICATIONS=lstm_wlm``: some alone; ``AXILOOM_PAGES=FOLDER``: a page for each run;
``AXILOOM_CALLS=1``: so many calls of the data.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from axiloom.accelerators.flexasr import host
from axiloom.accelerators.flexasr import numbers as flexasr
from axiloom.accelerators.flexasr.linear import reals
from axiloom.accelerators.flexasr.lstm import GATES as LSTM_GATES
from axiloom.accelerators.flexasr.lstm import LSTM
from axiloom.application import data, model, page
from axiloom.application.choose import choose, observe
from axiloom.application.result import figure
from axiloom.application.units.counts import Places
from axiloom.application.units.unit import Operator
from axiloom.application.validate import Request, Validated, validate
from axiloom.graph.graph import Graph, Type
from axiloom.graph.ops import Builder
from benchmarks.networks.flexasr_table2 import LSTM_64, error, rounded, tensor
from benchmarks.networks.flexasr_table2 import _lstm as exact_lstm

ROOT = Path(__file__).parents[2] / "examples" / "applications"
MODELS, DATA = ROOT / "trained.py", ROOT / "data.py"


@dataclass(frozen=True)
class Row:
    """`published`: float32, original, corrected, seconds a datum; of the paper."""

    accelerators: tuple[str, ...]
    model: str
    data: str
    seen: str
    metric: str
    published: tuple[str, str, str, float]
    batch: int = 0
    """The dimension of inputs that data lie along."""


IMAGES = "digits", "digits_seen", "accuracy"
ROWS: Mapping[str, Row] = {
    "lstm_wlm": Row(
        ("flexasr.lstm",), f"{MODELS}:lstm_documentation", "sentences", "sentences_seen", "perplexity",
        ("122.15", "257.39", "", 70), batch=1,
    ),
    "resmlp": Row(("flexasr",), f"{MODELS}:resmlp_digits", *IMAGES, ("69.65 %", "10.65 %", "", 1155)),
    "resnet20": Row(
        ("hlscnn", "flexasr"), f"{MODELS}:resnet20_digits", *IMAGES, ("91.55 %", "29.15 %", "91.85 %", 863)
    ),
    "mobilenet_v2": Row(
        ("hlscnn", "flexasr"), f"{MODELS}:mobilenet_v2_digits", *IMAGES,
        ("92.40 %", "10.35 %", "91.20 %", 2546),
    ),
    "transformer": Row(
        ("flexasr",), f"{ROOT / 'transformer.py'}:build", "two_sequences", "two_sequences", "error",
        ("", "", "", 0), batch=1,
    ),
    "efficientnet": Row(
        ("hlscnn", "flexasr"), f"{MODELS}:efficientnet_noise", "noise", "noise", "error", ("", "", "", 0)
    ),
}  # fmt: skip


def main() -> None:
    chosen = os.environ.get("AXILOOM_APPLICATIONS", ",".join(ROWS)).split(",")
    print(f"{'application':14}{'on':16}{'data':>5}{'float32':>10}{'published':>11}{'chosen':>10}"
          f"{'s/datum':>9}{'paper: float32, original, corrected, s/datum':>48}{'ratio':>8}")  # fmt: skip
    for name in chosen:
        _row(name, ROWS[name])
    _steps()


def _row(name: str, row: Row) -> None:
    graph = model.load(row.model)
    inputs, seen = (data.load(f"{DATA}:{split}", graph, batch=row.batch) for split in (row.data, row.seen))
    inputs = inputs.first(int(os.environ.get("AXILOOM_CALLS", "1000000")))
    by_numbers: dict[str, Validated] = {}
    for numbers in ("published", "chosen"):
        request = Request(row.accelerators, numbers, row.metric, replays=4)
        by_numbers[numbers] = validated = validate(graph, inputs, request, calibration=seen)
        wrong = sum(part.wrong for part in validated.replayed)
        assert not wrong, f"{name}, {numbers}: {wrong} results of sampled calls differ"
        if folder := os.environ.get("AXILOOM_PAGES"):
            page.write(
                validated, Path(folder) / f"{name}-{numbers}.html", f"python -m benchmarks table4 ({name})"
            )
    metric, run = validated.metric, validated.run
    of_float = figure(metric, run.exact) if metric.labels else ""
    figures = [figure(metric, by_numbers[numbers].run.found) for numbers in ("published", "chosen")]
    *told, seconds = row.published
    seconds_each = run.seconds / run.data
    paper = ", ".join([*(text or "-" for text in told), f"{seconds:g}"]) if seconds else ""
    ratio = f"{seconds / seconds_each:.0f}" if seconds else ""
    on = ",".join(row.accelerators)
    print(f"{name:14}{on:16}{run.data:5}{of_float:>10}{figures[0]:>11}{figures[1]:>10}{seconds_each:9.3f}{paper:>48}{ratio:>8}",
          flush=True)  # fmt: skip


STEPS, RUNS = 10, 30
SEEN = 8
"""Sequences that the checked pass sees of a layer."""
LSTM_128 = 1.4, 9.5, 40, 55, 66, 74, 78, 82, 85, 85
"""Published means of the ten steps at size 128, in percent."""


def _steps() -> None:
    """The driver's random layers, in whole arrays; as `flexasr_table2` on the text."""
    print(f"\nLSTM on random weights: mean error in % of {STEPS} steps, {RUNS} runs")
    for size, published in ((64, LSTM_64), (128, LSTM_128)):
        print(f"{f'size {size}, op_sim':50}" + "".join(f"{mean:6.1f}" for mean in published))
        for text, sign, window in (
            ("as published: bias 2, sign lost", 0, 2),
            ("bias 2, sign kept (as since 2022)", 1, 2),
            ("activation bias 4, also of h; sign kept", 1, 4),
            ("activation bias 4, also of h; sign lost", 0, 4),
        ):
            _say(f"size {size}, {text}", random_layers(size, sign, window))
        _say(f"size {size}, chosen by the checked pass", random_layers(size, 1, None))


def _say(text: str, means: Sequence[float]) -> None:
    print(f"{text:50}" + "".join(f"{mean:6.1f}" for mean in means), flush=True)


def random_layers(size: int, sign: int, window: int | None, runs: int = RUNS) -> list[float]:
    """Mean errors of the steps in percent. `window`: the bias of cell and result; None: the checked pass
    chooses it for each layer, and how much larger the result is emitted."""
    rng, errors = np.random.default_rng(1), []
    seen = np.random.default_rng(2)
    for _ in range(runs):
        both = tensor(0.8 * rng.uniform(-1, 1, (2, 4, size, size)))
        added = tensor(0.8 * rng.uniform(-1, 1, (2, 4, size)))
        x = tensor(0.8 * rng.uniform(-1, 1, (STEPS, size)))
        pair = tuple(flexasr.Weights.of(both.raw[k], added.raw[k], both.bias, added.bias) for k in range(2))
        version = flexasr.Version(321, sign)
        bias, more = (window, 0) if window is not None else chosen(both.reals, added.reals, seen)
        outputs = flexasr.recurrent(
            x.raw[:, None], (pair[0], pair[1]), (x.bias, bias - more, bias), host.enlarged(more), Places(),
            version,
        )  # fmt: skip
        # The driver's order of gates is input, cell, forget, output; so is the reference's.
        reference = rounded(exact_lstm(x.reals, both.reals, added.reals))
        errors.append(error(reals(outputs[:, 0], bias, more), reference))
    return [float(mean) for mean in 100 * np.mean(errors, axis=0)]


def chosen(weights: np.ndarray, added: np.ndarray, rng: np.random.Generator) -> tuple[int, int]:
    """The bias of cell and result that the checked pass chooses for a layer, and the result's exponent.

    weights: (2, 4, size, size), of the input and of the result before; added: (2, 4, size).
    """
    b, size = Builder(), weights.shape[2]
    xs = b.leaf("parameter", "xs", Type((STEPS, SEEN, size), "float32"))
    states = [b.leaf("parameter", name, Type((SEEN, size), "float32")) for name in "hc"]
    # The unit has PyTorch's order of gates, and one vector that is added.
    gates = [weight[list(LSTM_GATES)].reshape(-1, size) for weight in weights]
    gates.append(added.sum(axis=0)[list(LSTM_GATES)].reshape(-1))
    constants = {f"w{k}": array.astype(np.float32) for k, array in enumerate(gates)}
    leaves = [
        b.leaf("constant", name, Type(constant.shape, "float32")) for name, constant in constants.items()
    ]
    node = b.op("lstm", xs, *states, *leaves, place="lstm")
    operator = LSTM.take(node, {})
    assert isinstance(operator, Operator)
    graph = Graph("lstm", (xs, *states), (node,), constants)
    zeros = np.zeros((1, SEEN, size), np.float32)
    arrays = {
        "xs": 0.8 * rng.uniform(-1, 1, (1, STEPS, SEEN, size)).astype(np.float32),
        "h": zeros,
        "c": zeros,
    }
    observed = observe(graph, [operator], data.of_arrays(arrays, graph, "random"), lambda _: None)
    settings = choose([operator], observed, lambda _: None)[operator.name].settings
    return settings["activation_bias"], settings["output_exponent"]
