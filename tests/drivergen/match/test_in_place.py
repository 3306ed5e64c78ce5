"""Accelerators with several kernels: each op finds its own, and what is done in place is fused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.drivergen import host, network_host

from axiloom import isa
from axiloom.base.errors import CompileError, UsageError
from axiloom.drivergen import compile_mlir, parse_workload
from axiloom.isa import AcceleratorSpec
from axiloom.isa.check.check import check
from axiloom.isa.contract.types import Compute, Opcode, Scope, SendLiteral
from axiloom.isa.files.device import device_of
from axiloom.isa.kernels.language.kernel import Kernel
from axiloom.isa.kernels.named import KERNELS
from axiloom.read.context.model import Model

EXAMPLE = Path(__file__).parents[3] / "examples" / "conv_relu"
CLIP = Kernel("clip", {"n": "parallel"}, {"A": {"n": "n"}, "C": {"n": "n"}}, "min(A, 1000)")
FIRST = 0x100


def with_kernels(spec: AcceleratorSpec) -> AcceleratorSpec:
    """`spec` with relu and clip in place, in a flow each and in one of both; and relu by itself."""
    *before, last = spec.flows[spec.selected_flow].items
    kernels = {"relu": KERNELS["relu"], "clip": CLIP}
    opcodes = {
        name: Opcode(name, (SendLiteral(FIRST + at),), (Compute(name),)) for at, name in enumerate(kernels)
    }
    plain = device_of("relu", {"n": 16})
    moved = {
        name: Opcode(name, (SendLiteral(FIRST + 16 + op.host[0].value), *op.host[1:]), op.device)  # type: ignore[union-attr]
        for name, op in plain.opcodes.items()
    }
    made = spec.replace(
        opcodes={**spec.opcodes, **opcodes},
        flows={
            **spec.flows,
            "relu": Scope((*before, "relu", last)),
            "both": Scope((*before, "relu", "clip", last)),
        },
        in_place=kernels,
        uses=(spec.use, replace(plain.use, name="relu", opcodes=moved)),
    )
    assert check(made) == []
    return made


@pytest.fixture(params=["matmul engine's form", "plain form"])
def matmul(request: pytest.FixtureRequest) -> AcceleratorSpec:
    if request.param == "plain form":
        return with_kernels(device_of("linalg.matmul", {"m": 4, "n": 5, "k": 3}, "int8"))
    spec = isa.builtin("v3_4", data_type="int8")
    flows = {"Cs": spec.flows["Cs"]}
    return with_kernels(spec.replace(flows=flows))


ZERO = "%zero = arith.constant 0 : i32\n %most = arith.constant 1000 : i32\n"
IDENTITY = "affine_map<(i, j) -> (i, j)>"
HEAD = "%A : memref<10x12xi8>, %B : memref<12x9xi8>"
FILL = "linalg.fill ins(%zero : i32) outs(%C : memref<10x9xi32>)\n"
PRODUCT = "linalg.matmul ins(%A, %B : memref<10x12xi8>, memref<12x9xi8>) outs(%C : memref<10x9xi32>)\n"


def change(read: str, written: str, lines: str) -> str:
    """An op that makes %r of the element %x of `read`; `read` may be `written`."""
    head = 'iterator_types = ["parallel", "parallel"]}'
    if read == written:
        start = f"linalg.generic {{indexing_maps = [{IDENTITY}], {head} outs({written} : memref<10x9xi32>)"
        block = "^bb0(%x : i32):"
    else:
        maps = f"indexing_maps = [{IDENTITY}, {IDENTITY}]"
        ends = f"ins({read} : memref<10x9xi32>) outs({written} : memref<10x9xi32>)"
        start = f"linalg.generic {{{maps}, {head} {ends}"
        block = "^bb0(%x : i32, %old : i32):"
    return f"{start} {{\n {block}\n {lines}\n linalg.yield %r : i32\n }}\n"


RELU = "%r = arith.maxsi %x, %zero : i32"
CLIPPED = "%r = arith.minsi %x, %most : i32"


def function(body: str, more: str = "") -> str:
    return f"func.func @f({HEAD}, %C : memref<10x9xi32>{more}) {{\n {ZERO} {body} func.return\n}}\n"


@pytest.mark.every(3)
@pytest.mark.parametrize("pipeline", ["published", "copying"])
@pytest.mark.parametrize(
    ("body", "flow"),
    [
        (FILL + PRODUCT + change("%C", "%C", RELU), "relu"),
        (FILL + PRODUCT + change("%C", "%C", RELU) + change("%C", "%C", CLIPPED), "both"),
    ],
)
def test_fused(matmul: AcceleratorSpec, body: str, flow: str, pipeline: str) -> None:
    driver, _ = host.check(function(body), matmul, pipeline=pipeline)
    assert [call.flow for call in driver.calls] == [flow]


def test_through_an_array_of_the_function(matmul: AcceleratorSpec) -> None:
    """%T is nobody else's, so it is not needed any more."""
    body = (
        "%T = memref.alloc() : memref<10x9xi32>\n"
        + (FILL + PRODUCT).replace("%C", "%T")
        + change("%T", "%C", RELU)
    )
    driver, _ = host.check(function(body), matmul)
    assert [call.flow for call in driver.calls] == ["relu"]


def test_on_tensors(matmul: AcceleratorSpec) -> None:
    text = f"""\
func.func @f(%A : tensor<10x12xi8>, %B : tensor<12x9xi8>) -> tensor<10x9xi32> {{
  %zero = arith.constant 0 : i32
  %E = tensor.empty() : tensor<10x9xi32>
  %Z = linalg.fill ins(%zero : i32) outs(%E : tensor<10x9xi32>) -> tensor<10x9xi32>
  %S = linalg.matmul ins(%A, %B : tensor<10x12xi8>, tensor<12x9xi8>) outs(%Z : tensor<10x9xi32>)
    -> tensor<10x9xi32>
  %R = linalg.generic {{indexing_maps = [{IDENTITY}, {IDENTITY}], iterator_types = ["parallel", "parallel"]}}
    ins(%S : tensor<10x9xi32>) outs(%E : tensor<10x9xi32>) {{
  ^bb0(%x : i32, %old : i32):
    {RELU}
    linalg.yield %r : i32
  }} -> tensor<10x9xi32>
  func.return %R : tensor<10x9xi32>
}}
"""
    driver, _ = host.check(text, matmul)
    assert [call.flow for call in driver.calls] == ["relu"]


def test_two_kernels_in_one_driver(matmul: AcceleratorSpec) -> None:
    """The caller sees the sums too, so the ReLU is an op of its own."""
    body = FILL + PRODUCT + change("%C", "%D", RELU)
    driver, _ = host.check(function(body, ", %D : memref<10x9xi32>"), matmul, pipeline="copying")
    assert [(call.kernel, call.flow) for call in driver.calls] == [(0, matmul.selected_flow), (1, "plain")]


def test_sums_that_go_on_are_not_fused(matmul: AcceleratorSpec) -> None:
    """The ReLU of old and new sums together: the device has only the new ones."""
    body = PRODUCT + change("%C", "%D", RELU)
    driver, _ = host.check(function(body, ", %D : memref<10x9xi32>"), matmul)
    assert [call.flow for call in driver.calls] == [matmul.selected_flow, "plain"]
    with pytest.raises(CompileError, match="no kernel of the accelerator is it"):
        compile_mlir(function(PRODUCT + change("%C", "%C", RELU)), matmul)


def test_what_no_kernel_is(matmul: AcceleratorSpec) -> None:
    doubled = change("%C", "%C", "%r = arith.addi %x, %x : i32")
    with pytest.raises(CompileError) as caught:
        compile_mlir(function(FILL + PRODUCT + doubled), matmul)
    said = str(caught.value)
    assert f"{matmul.name}.relu cannot execute it: it reads" in said
    assert f"no kernel of the accelerator is it: {matmul.name} cannot execute it: " in said


def test_options(matmul: AcceleratorSpec) -> None:
    fused = function(FILL + PRODUCT + change("%C", "%C", RELU))
    assert compile_mlir(fused, matmul, flow="relu").calls[0].flow == "relu"
    with pytest.raises(CompileError, match=r"applies relu, clip to the result, and the op wants relu"):
        compile_mlir(fused, matmul, flow="both")
    with pytest.raises(UsageError, match=r"unknown flow `rely`; did you mean `relu`\?"):
        compile_mlir(fused, matmul, flow="rely")
    for option in ({"tile": (4, 4, 4)}, {"order": ("m", "n", "k")}):
        with pytest.raises(UsageError, match=r"is for one kernel, and .* has 2 of them"):
            compile_mlir(fused, matmul, **option)  # type: ignore[arg-type]


def test_a_maximum_and_then_a_relu() -> None:
    """A kernel whose results are joined by another operation than a sum."""
    spec = with_kernels(device_of("linalg.pooling_nchw_max", data_type="int8"))
    text = parse_workload("max_pooling:c=3,oh=5,ow=6,fh=3,fw=3:int8").mlir
    relu = """\
  %zero = arith.constant 0 : i8
  linalg.generic {indexing_maps = [affine_map<(c, h, w) -> (c, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel"]} outs(%O : memref<3x5x6xi8>) {
  ^bb0(%x : i8):
    %r = arith.maxsi %x, %zero : i8
    linalg.yield %r : i8
  }
  func.return
"""
    driver, _ = host.check(text.replace("  func.return\n", relu), spec)
    assert [call.flow for call in driver.calls] == ["relu"]


@pytest.mark.every(3)
@pytest.mark.parametrize(("name", "flows"), [("conv_relu", ["Or"]), ("conv_then_relu", ["Os", "plain"])])
@pytest.mark.parametrize("pipeline", ["published", "copying"])
def test_the_example(name: str, flows: list[str], pipeline: str) -> None:
    spec = isa.load(EXAMPLE / "conv_relu.json")
    driver, _ = host.check((EXAMPLE / f"{name}.mlir").read_text(), spec, pipeline=pipeline)
    assert [call.flow for call in driver.calls] == flows


def test_a_network_has_both_in_one_layer() -> None:
    spec = isa.load(EXAMPLE / "conv_relu.json")
    text = (EXAMPLE / "network.mlir").read_text()
    driver = network_host.check(Model("network.mlir", text), spec)
    assert [(layer.use and layer.use.flow, layer.ops) for layer in driver.layers] == [("Or", (3, 5))]
    least = text.replace("arith.maxsi", "arith.minsi")
    driver = network_host.check(Model("network.mlir", least), spec)
    assert [layer.place for layer in driver.layers] == ["accelerator", "cpu"]
