"""Without `--accel` the accelerator is chosen too: the fastest of its kind that the part has room for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.commands import keywords, main

from axiloom import boards
from axiloom.cli import options as shared
from axiloom.explore import chosen as chooser
from axiloom.explore import hardware
from axiloom.explore.chosen import Task
from axiloom.explore.default import Default
from axiloom.read import models
from axiloom.read.context.model import Model

NETWORK = """
func.func @net(%x: tensor<1x8x8x16xi8>, %w: tensor<1x1x16x16xi8>) -> tensor<1x8x8x16xi8> {
  %c0 = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1x8x8x16xi32>
  %z = linalg.fill ins(%c0 : i32) outs(%e : tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
       ins(%x, %w : tensor<1x8x8x16xi8>, tensor<1x1x16x16xi8>)
       outs(%z : tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32>
  %o = tensor.empty() : tensor<1x8x8x16xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>,
                                        affine_map<(a, b, c, d) -> (a, b, c, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       ins(%y : tensor<1x8x8x16xi32>) outs(%o : tensor<1x8x8x16xi8>) {
  ^bb0(%in: i32, %out: i8):
    %t = arith.trunci %in : i32 to i8
    linalg.yield %t : i8
  } -> tensor<1x8x8x16xi8>
  return %r : tensor<1x8x8x16xi8>
}
"""


def task(text: str) -> Task:
    given = keywords("run", *text.split())
    problem = given["problem"]
    mlir, data_type = shared.problem(problem)
    return Task(problem, mlir, data_type, given["asked"], given["use"])


def chosen(text: str) -> Default:
    return chooser.of_problem(task(text))


def network(text: str, model: Model) -> Default:
    given = keywords("network", "run", *text.split())
    asked, use = given["asked"], given["use"]
    return chooser.of_network(Task(text, model.mlir, "int8", asked, use, weights=dict(model.weights)))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("matmul:48x48x48:int8", "v4_16"),
        ("matmul:8x8x8", "v3_16"),
        ("conv:14_64_1_64_1:int8", "conv_v4"),
        ("dwconv:14x14,64,3x3:int8", "conv_v4"),
        ("matmul:64x64x64 --tile 32,32,32", "v4_16"),  # v3 has one tile
        ("matmul:64x64x64 --size 4", "v3_4"),
        ("matmul:48x48x48:int8 --pipeline published", "v3_16"),
        ("matmul:48x48x48:int8 --accel v3", "v3_16"),
    ],
)
def test_a_problem(text: str, name: str) -> None:
    found = chosen(text)
    assert found.spec.name == name
    named = {"--size", "--accel", "--pipeline"} & {*text.split()}
    assert (found.choice is not None and "accel" in found.choice["chosen"]) == (not named)


@pytest.mark.slow
def test_it_is_the_faster_one_by_the_model() -> None:
    """Beside each by its name, so that neither is taken always."""
    for text in ("matmul:48x48x48:int8", "matmul:8x8x8"):
        times = {}
        for name in chooser.PRODUCTS:
            one = chosen(f"{text} --accel {name}")
            assert one.choice is not None
            times[one.spec.name] = one.choice["predicted_ms"]
        assert chosen(text).spec.name == min(times, key=lambda name: times[name])


@pytest.mark.slow
def test_what_the_part_has_no_room_for_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    small = boards.load("pynq-z2")
    small = replace(small, resources=replace(small.resources, bram36=8))
    given = task("matmul:48x48x48:int8")
    given = replace(given, asked=replace(given.asked, board=small))
    assert chooser.of_problem(given).spec.name == "v3_16"
    monkeypatch.setattr(chooser, "has_room", lambda *_: False)
    assert chosen("matmul:48x48x48:int8").spec.name == "v3_16"  # as named by nobody before


def test_room_is_multipliers_and_memory() -> None:
    board = boards.load("pynq-z2")
    v3, v4 = (chosen(f"matmul:48x48x48:int8 --accel {name}").spec for name in chooser.PRODUCTS)
    assert hardware.has_room(v4, board)
    assert not hardware.has_room(v3, replace(board, resources=replace(board.resources, dsp48=64)))
    assert not hardware.has_room(v4, replace(board, resources=replace(board.resources, bram36=16)))


def test_a_network_takes_what_has_most_to_do_with_post_processing(tmp_path: Path) -> None:
    file = tmp_path / "net.mlir"
    file.write_text(NETWORK)
    model = models.load(str(file))
    found = network(str(file), model)
    assert [one.name for one in found.specs] == ["conv_v4"]
    assert found.spec.post
    assert found.choice is not None
    assert {"accel": "conv_v4", "post": "yes"}.items() <= found.choice["chosen"].items()
    asked = network(f"{file} --post", model)
    assert asked.spec.post
    assert asked.choice is not None
    assert "post" not in asked.choice["chosen"]  # nobody chose it
    assert [one.name for one in network(f"{file} --accel v4", model).specs] == ["v4_16"]


def test_the_driver_names_its_hardware(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "matmul:48x48x48:int8"]) == 0
    text = capsys.readouterr().out
    assert "Chosen: v4_16, flow" in text
    assert "Its hardware: --accel v4_16 --dma" in text
