"""Tiles of convolutions: those that are never looked at would not have been among the first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from axiloom import isa
from axiloom.drivergen.cost import conv_tiles
from axiloom.drivergen.cost.conv import Model, image_under

SPEC = isa.builtin("conv_v4", data_type="int8").replace(stream_width=64)
SPEC = SPEC.replace(dma=replace(SPEC.link.dma, scatter_gather=True))


def sizes(channels: int, width: int, filters: int, taps: int) -> dict[str, int]:
    return {"oc": filters, "oh": width, "ow": width, "ic": channels, "fh": taps, "fw": taps}


@pytest.mark.parametrize(
    ("problem", "stride"),
    [(sizes(16, 14, 48, 3), 1), (sizes(64, 7, 32, 1), 1), (sizes(3, 28, 16, 5), 2), (sizes(96, 9, 24, 3), 2)],
)
def test_first_of_all(problem: dict[str, int], stride: int) -> None:
    extent = (problem["oh"] - 1) * stride + problem["fh"]
    settings = {"sh": stride, "sw": stride, "pt": 0, "pl": 0, "dh": 1, "dw": 1}
    settings = {
        name: one for name, one in settings.items() if any(name == x.name for x in SPEC.form.settings)
    }
    image, flow = {"ih": extent, "iw": extent}, SPEC.selected_flow
    orders = [tuple(one) for one in isa.loop_orders(SPEC, flow)]
    found = conv_tiles.ranked(SPEC, problem, settings, flow, image=image, result_bytes=1, count=1_000)

    model = Model(SPEC, problem, settings, flow, image, 1)
    every = []
    for number, tile in enumerate(conv_tiles._tiles(SPEC, problem, settings, image)):
        named = dict(zip(SPEC.dims, tile, strict=True))
        if conv_tiles._fits(SPEC, tile, settings, image_under(SPEC, named, problem, settings, image)):
            for place, order in enumerate(orders):
                every.append((model.estimate(named, order), number, place, tile))
                assert model.least(named, orders[0]) <= every[-1][0]
    assert len(every) > conv_tiles.FOLLOWED
    first = sorted(every)[: conv_tiles.FOLLOWED]
    steps = sorted(
        (model.steps(dict(zip(SPEC.dims, tile, strict=True)), orders[place]), number, place, tile)
        for _, number, place, tile in first
    )
    assert [(one.tile, one.order, one.cycles) for one in found] == [
        (tile, orders[place], cycles) for cycles, _, place, tile in steps
    ]
