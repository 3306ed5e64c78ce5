"""Random networks: offloaded or on the CPU, never miscompiled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from tests.drivergen import network_host
from tests.drivergen.network.graphs import models

from axiloom import isa
from axiloom.drivergen.dialects.mlir import only_function, parse
from axiloom.drivergen.evaluate.reference import evaluate
from axiloom.drivergen.network.compile import canonicalise
from axiloom.drivergen.network.passes.fold_constants import weight_names
from axiloom.read.context.model import Model

SPEC = isa.builtin("v4_16", data_type="int8")
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@given(models())
@settings(max_examples=30, deadline=None, suppress_health_check=QUIET)
def test_passes_do_not_change_what_is_computed(model: Model) -> None:
    before = only_function(parse(model.mlir), "random")
    x = np.random.default_rng(1).integers(-128, 128, before.args[0].type.get_shape(), np.int8)  # type: ignore[union-attr]
    expected = network_host.expected(model, [x])
    module, weights = parse(model.mlir), dict(model.weights)
    canonicalise(module, weights)
    after = only_function(module, "random")
    given_ = [x if name is None else weights[name] for name in weight_names(after)]
    for found, want in zip(evaluate(after, given_), expected, strict=True):
        np.testing.assert_array_equal(found, want)


def check(model: Model) -> None:
    driver = network_host.check(model, SPEC)
    for layer in driver.layers:
        product = "matmul" in layer.function
        assert not product or layer.place == "accelerator" or layer.reason


@given(models())
@settings(max_examples=3, deadline=None, suppress_health_check=QUIET)
def test_compiled(model: Model) -> None:
    check(model)


@pytest.mark.slow
@given(models())
@settings(max_examples=40, deadline=None, suppress_health_check=QUIET)
def test_compiled_thoroughly(model: Model) -> None:
    check(model)
