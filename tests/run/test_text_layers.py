"""Layers of a network as programs of VTA: what they compute, and what becomes of their weights."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from axiloom.base.errors import CompileError
from axiloom.device.rtl import DeviceRtl
from axiloom.drivergen.nest.packed import CONSTANT
from axiloom.drivergen.network import compile_network
from axiloom.isa.instructions.library import targets
from axiloom.isa.instructions.read import read
from axiloom.isa.instructions.tree import InstructionSet
from axiloom.run.text_layers import TextLayers, with_arguments
from axiloom.selection.drive.execute import execute

pytest.importorskip("egglog")
pytest.importorskip("ortools")

M, N, K, SHIFT = 16, 32, 48, 7


def network(columns: int = N, weight: str = "axiloom.weight", behind: bool = True) -> str:
    """A product with a bias, a shift and clips, as ``axiloom quantize --shifts`` writes it."""
    x, w, y = f"tensor<{M}x{K}xi8>", f"tensor<{K}x{columns}xi8>", f"tensor<{M}x{columns}xi32>"
    result = f"tensor<{M}x{columns}xi8>" if behind else y
    end = f"""
      %empty = tensor.empty() : {result}
      %out = linalg.generic {{indexing_maps = [#id, #last, #id], iterator_types = ["parallel", "parallel"]}}
        ins(%sums, %b : {y}, tensor<{columns}xi32>) outs(%empty : {result}) {{
      ^bb0(%s : i32, %c : i32, %o : i8):
        %t = arith.addi %s, %c : i32
        %q = arith.shrsi %t, %places : i32
        %l = arith.maxsi %q, %low : i32
        %h = arith.minsi %l, %high : i32
        %r = arith.trunci %h : i32 to i8
        linalg.yield %r : i8
      }} -> {result}"""
    return f"""
    #id = affine_map<(d0, d1) -> (d0, d1)>
    #last = affine_map<(d0, d1) -> (d1)>
    func.func @net(%x : {x}, %w : {w} {{{weight} = "w"}}, %b : tensor<{columns}xi32> {{{weight} = "b"}})
        -> {result} {{
      %zero = arith.constant 0 : i32
      %places = arith.constant {SHIFT} : i32
      %low = arith.constant -128 : i32
      %high = arith.constant 127 : i32
      %start = tensor.empty() : {y}
      %filled = linalg.fill ins(%zero : i32) outs(%start : {y}) -> {y}
      %sums = linalg.matmul ins(%x, %w : {x}, {w}) outs(%filled : {y}) -> {y}
      {end if behind else ""}
      func.return {"%out" if behind else "%sums"} : {result}
    }}"""


@pytest.fixture
def layers() -> TextLayers:
    return TextLayers(vta, DeviceRtl(vta({}), "device_vta", "", 64, 256))


def vta(more: Mapping[str, int]) -> InstructionSet:
    return read(targets()["vta"], {"DRAM": 1 << 11, **more})


def weights(columns: int = N) -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    return {
        "w": random.integers(-128, 128, (K, columns)).astype(np.int8),
        "b": random.integers(-4096, 4096, columns).astype(np.int32),
    }


@pytest.mark.slow
def test_a_layer_is_a_validated_program_of_its_arguments(layers: TextLayers) -> None:
    known = weights()
    driver = compile_network(network(), layers.device.spec, known, makers={0: layers})
    (layer,) = driver.layers
    assert (layer.place, layer.reason) == ("accelerator", None)
    assert layer.use is not None
    assert layer.use.flow == "commands"
    ((title, found),) = layers.made
    assert title == f"matmul_{M}x{N}x{K}"
    assert found.verdict.exact
    assert found.constants["DRAM"] > 1 << 11  # as much of the host's memory as the program needs

    # The network's compiler has packed the weight for it; the program computes the layer with that.
    program, _ = with_arguments(found)
    names = [one.name for one in program.arrays if one.role == "in"]
    x = np.random.default_rng(4).integers(-128, 128, (M, K)).astype(np.int8)
    packed = driver.weights["axl_weight_w_packed"]
    shape = next(one.shape for one in program.arrays if one.name == names[1])
    values = dict(zip(names, (x, packed.reshape(shape), known["b"]), strict=True))
    (result,) = execute(program, found.isa, values).values()
    sums = x.astype(np.int32) @ known["w"].astype(np.int32) + known["b"]
    np.testing.assert_array_equal(result.reshape(M, N), np.clip(sums >> SHIFT, -128, 127).astype(np.int8))
    assert not np.array_equal(packed.reshape(-1), known["w"].reshape(-1))


@pytest.mark.slow
def test_the_driver_takes_the_weight_as_an_argument(layers: TextLayers) -> None:
    driver = compile_network(network(), layers.device.spec, weights(), makers={0: layers})
    (name,) = {layer.function for layer in driver.layers}
    source = driver.sources[f"{name}.c"]
    assert f"dma_status {name}(const int8_t *in" in source
    assert '#include "network.h"' in source
    assert "axl_weight_w_packed" in driver.c


@pytest.mark.slow
def test_what_no_program_computes_stays_on_the_cpu(layers: TextLayers) -> None:
    driver = compile_network(network(behind=False), layers.device.spec, weights(), makers={0: layers})
    product = driver.layers[0]
    assert product.place == "cpu"
    assert "vta has nothing that makes dot_general" in str(product.reason)
    assert not layers.made


@pytest.mark.slow
def test_no_whole_blocks_are_refused(layers: TextLayers) -> None:
    with pytest.raises(CompileError, match="24 channels or columns: blocks have 16"):
        layers(network(24, CONSTANT), "layer")


def test_a_product_of_two_activations_is_refused(layers: TextLayers) -> None:
    with pytest.raises(CompileError, match="its right factor follows from a parameter"):
        layers(network(weight="other.name"), "layer")


def test_faults_of_the_text_are_faults_of_the_layer(layers: TextLayers) -> None:
    with pytest.raises(CompileError, match="tensors of known shapes are read"):
        layers("func.func @layer(%x : tensor<?xi8>) -> tensor<?xi8> { func.return %x : tensor<?xi8> }", "t")
