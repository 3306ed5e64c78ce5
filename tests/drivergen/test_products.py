"""Matrix products with batches and transposed operands on accelerators for matmul."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.drivergen import host
from tests.drivergen.epilogues import Rounded
from tests.drivergen.test_epilogues import matmul
from tests.some import some

from axiloom import isa
from axiloom.base.errors import CompileError
from axiloom.drivergen import compile_cpu, compile_mlir
from axiloom.drivergen.dialects.mlir import parse
from axiloom.drivergen.network.compile import compile_network
from axiloom.drivergen.network.estimate import Clocks, slower
from axiloom.isa import AcceleratorSpec, numerics
from axiloom.isa.numerics import SIGNED

FORMS = {
    "linalg.matmul": "mk kn mn",
    "linalg.matmul_transpose_a": "km kn mn",
    "linalg.matmul_transpose_b": "mk nk mn",
    "linalg.batch_matmul": "bmk bkn bmn",
    "linalg.batch_matmul_transpose_a": "bkm bkn bmn",
    "linalg.batch_matmul_transpose_b": "bmk bnk bmn",
    "linalg.dot": "k k ",
    "linalg.matvec": "mk k m",
    "linalg.vecmat": "k kn n",
    "linalg.batch_matvec": "bmk bk bm",
    "linalg.batch_vecmat": "bk bkn bn",
}


@dataclass(frozen=True)
class Product:
    """One op on tensors, with sizes by letter; `tail` goes between its name and its operands."""

    op: str
    sizes: dict[str, int]
    dtype: str = "int32"
    form: str = ""
    tail: str = ""

    @property
    def text(self) -> str:
        element = f"i{numerics.of(self.dtype).bits}"
        a, b, c = (
            f"tensor<{''.join(f'{self.sizes[letter]}x' for letter in dims)}{kind}>"
            for dims, kind in zip(
                (self.form or FORMS[self.op]).split(" "), (element, element, "i32"), strict=True
            )
        )
        return f"""\
func.func @f(%A : {a}, %B : {b}, %C : {c}) -> {c} {{
  %R = {self.op}{self.tail} ins(%A, %B : {a}, {b}) outs(%C : {c}) -> {c}
  func.return %R : {c}
}}
"""


SIZES = {"b": 3, "m": 5, "n": 7, "k": 6}
MATRICES = [op for op in FORMS if "matmul" in op]

products = st.builds(
    Product,
    st.sampled_from(list(FORMS)),
    st.fixed_dictionaries(dict.fromkeys("bmnk", st.integers(1, 11))),
    st.sampled_from([kind.name for kind in SIGNED]),
)


@pytest.mark.parametrize("op", MATRICES)
def test_every_op(op: str) -> None:
    driver, _ = host.check(Product(op, SIZES).text, isa.builtin("v3_4"))
    (call,) = driver.calls
    assert call.sizes == {d: SIZES[d] for d in (["b"] if "batch" in op else []) + ["m", "n", "k"]}
    assert call.multiply_adds == 210 * (3 if "batch" in op else 1)
    assert call.order == (*(["b"] if "batch" in op else []), "m", "n", "k")


@given(products, st.sampled_from(["published", "coalesced", "copying", "residency,coalesce"]), st.data())
@settings(max_examples=12)
def test_any_sizes(product: Product, pipeline: str, data: st.DataObject) -> None:
    spec = isa.builtin("v4_16" if product.sizes["m"] > 6 else "v3_4", data_type=product.dtype)
    flow = data.draw(st.sampled_from(sorted(spec.flows)))
    host.check(product.text, spec, flow=flow, pipeline=pipeline)


def test_maps_as_mlir_prints_them() -> None:
    maps = ", ".join(f"affine_map<(m, n, k) -> ({', '.join(dims)})>" for dims in ("mk", "nk", "mn"))
    product = Product("linalg.matmul", SIZES, form="mk nk mn", tail=f" indexing_maps = [{maps}]")
    text = str(parse(product.text))
    assert "linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>" in text
    assert str(parse(text)) == text
    host.check(product.text, isa.builtin("v3_4"))


GENERIC = """\
func.func @f(%A : memref<2x3x4x5xi32>, %B : memref<5x6xi32>, %C : memref<2x3x4x6xi32>) {{
  linalg.generic {{indexing_maps = [affine_map<(x, y, i, j, s) -> (x, y, i, s)>,
                                   affine_map<(x, y, i, j, s) -> (s, j)>,
                                   affine_map<(x, y, i, j, s) -> (x, y, i, j)>],
      iterator_types = ["{kind}", "parallel", "parallel", "parallel", "reduction"]}}
      ins(%A, %B : memref<2x3x4x5xi32>, memref<5x6xi32>) outs(%C : memref<2x3x4x6xi32>) {{
  ^bb0(%x : i32, %y : i32, %c : i32):
    %p = arith.muli %x, %y : i32
    %s = arith.addi %c, %p : i32
    linalg.yield %s : i32
  }}
  func.return
}}
"""


@pytest.mark.parametrize("pipeline", ["published", "copying"])
def test_one_matrix_for_batches_of_rows(pipeline: str) -> None:
    """As a linear layer has it: rows in batches, one matrix of weights."""
    driver, _ = host.check(GENERIC.format(kind="parallel"), isa.builtin("v3_4"), pipeline=pipeline)
    assert driver.calls[0].sizes == {"b": 2, "b1": 3, "m": 4, "n": 6, "k": 5}


def test_a_batch_that_is_summed_over_is_none() -> None:
    with pytest.raises(CompileError) as caught:
        compile_mlir(GENERIC.format(kind="reduction"), isa.builtin("v3_4"))
    assert str(caught.value) == (
        "input.mlir:2:3: linalg.generic: v3_4 cannot execute it: its loop over b is reduction, "
        "a matmul's is parallel"
    )


VECTORS = {
    "linalg.dot": {"m": 1, "n": 1, "k": 6},
    "linalg.matvec": {"m": 5, "n": 1, "k": 6},
    "linalg.vecmat": {"m": 1, "n": 7, "k": 6},
    "linalg.batch_matvec": {"b": 3, "m": 5, "n": 1, "k": 6},
    "linalg.batch_vecmat": {"b": 3, "m": 1, "n": 7, "k": 6},
}


@pytest.mark.parametrize("op", VECTORS)
def test_a_vector_is_a_matrix_of_one_row_or_column(op: str) -> None:
    driver, _ = host.check(Product(op, SIZES).text, isa.builtin("v3_4"))
    (call,) = driver.calls
    assert call.sizes == VECTORS[op]
    assert call.lean
    compile_cpu(Product(op, SIZES).text)


TRANSPOSED = """\
func.func @f(%x : memref<6xi32>, %A : memref<{shape}xi32>, %y : memref<5xi32>) {{
  linalg.generic {{indexing_maps = [affine_map<(r, s) -> (s)>, affine_map<(r, s) -> ({dims})>,
                                   affine_map<(r, s) -> (r)>], iterator_types = ["parallel", "reduction"]}}
      ins(%x, %A : memref<6xi32>, memref<{shape}xi32>) outs(%y : memref<5xi32>) {{
  ^bb0(%a : i32, %b : i32, %c : i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %c, %p : i32
    linalg.yield %s : i32
  }}
  func.return
}}
"""


@pytest.mark.parametrize(
    ("shape", "dims", "sizes"), [("5x6", "r, s", {"m": 5, "n": 1}), ("6x5", "s, r", {"m": 1, "n": 5})]
)
def test_the_matrix_is_not_transposed(shape: str, dims: str, sizes: dict[str, int]) -> None:
    """Whichever operand comes first: k is along the rows of A, or along the columns of B."""
    driver, _ = host.check(TRANSPOSED.format(shape=shape, dims=dims), isa.builtin("v3_4"))
    assert driver.calls[0].sizes == {**sizes, "k": 6}


@pytest.mark.every(3)
@pytest.mark.parametrize("sg", [False, True], ids=["copying", "all"])
@pytest.mark.parametrize("op", some(FORMS, 3))
def test_on_an_accelerator_for_convolutions(op: str, sg: bool) -> None:
    """Rows are one-tap filters, columns pixels; batches are the host's loops, each with its own filters."""
    spec = isa.builtin("conv_v4", data_type="int8")
    spec = isa.revise(spec, dma=replace(spec.link.dma, scatter_gather=sg))
    sizes = {"b": 3, "m": 8, "n": 16, "k": 8}
    driver, _ = host.check(Product(op, sizes, "int8").text, spec, pipeline="all" if sg else "copying")
    (call,) = driver.calls
    assert call.multiply_adds == prod(sizes[d] for d in set(FORMS[op]) - {" "})
    # What lies as it travels is read where it is.
    in_place = "matmul" in op and "transpose" not in op
    assert ("dma_queue_rows" in driver.c and driver.note is None) >= (sg and in_place)


def test_advice_and_estimate() -> None:
    """A small product of a vector is faster on the CPU; a large one is not, if nothing is copied for it."""
    clocks = Clocks(650_000_000, 100_000_000)
    small, large = ({"m": n, "k": n} for n in (64, 512))
    copying = isa.builtin("v4_16", data_type="int8")
    spec = isa.builtin("conv_v4", data_type="int8")
    queues = isa.revise(spec, dma=replace(spec.link.dma, scatter_gather=True))

    def why(sizes: dict[str, int], spec: AcceleratorSpec, pipeline: str) -> str | None:
        text = Product("linalg.matvec", sizes, "int8").text
        return slower(compile_mlir(text, spec, pipeline=pipeline), spec, clocks)

    assert why(small, copying, "copying") == "about 0.142 ms on v4_16, 0.025 ms on the CPU"
    assert why(large, copying, "copying") is not None
    assert why(small, queues, "all") is not None
    assert why(large, queues, "all") is None


def test_the_cpu_rounds_slowly() -> None:
    """What an accelerator rounds to int8 on the way costs the CPU a loop of its own."""
    clocks, spec = Clocks(650_000_000, 100_000_000), isa.builtin("v4_16", data_type="int8", post=True)
    sums = matmul(48, 48, 4)
    assert slower(compile_mlir(sums, spec, pipeline="copying"), spec, clocks) is not None
    rounded = Rounded(sums, (48, 48), 1).text
    assert slower(compile_mlir(rounded, spec, pipeline="copying"), spec, clocks) is None


def test_a_network_leaves_small_products_of_vectors_to_the_cpu() -> None:
    text, spec = Product("linalg.matvec", SIZES).text, isa.builtin("v3_4")
    _, layer = compile_network(text, spec, clocks=Clocks(650_000_000, 100_000_000)).layers
    assert layer.place == "cpu"
    assert layer.reason is not None
    assert layer.reason.endswith("ms on the CPU")
    (*_, layer) = compile_network(text, spec).layers
    assert layer.place == "accelerator"


BY_HAND = Product("linalg.matvec", SIZES).text.replace(
    " ins(", " {accel_dim = affine_map<(d0, d1) -> (4, 4)>} ins("
)


def test_a_trait_by_hand_is_for_matrices() -> None:
    with pytest.raises(CompileError) as caught:
        compile_mlir(BY_HAND, isa.builtin("v3_4"))
    assert str(caught.value) == (
        "input.mlir:2:3: linalg.matvec: v3_4 cannot execute it: it multiplies a matrix "
        "by a vector, which has no dim for the rows or the columns of a tile"
    )
