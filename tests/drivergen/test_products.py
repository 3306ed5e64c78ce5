"""Matrix products with batches and transposed operands on accelerators for matmul."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.drivergen import host

from axiloom import isa
from axiloom.drivergen import compile_cpu, compile_mlir
from axiloom.drivergen.dialects.mlir import parse
from axiloom.errors import CompileError
from axiloom.isa import numerics
from axiloom.isa.numerics import SIGNED

FORMS = {
    "linalg.matmul": "mk kn mn",
    "linalg.matmul_transpose_a": "km kn mn",
    "linalg.matmul_transpose_b": "mk nk mn",
    "linalg.batch_matmul": "bmk bkn bmn",
    "linalg.batch_matmul_transpose_a": "bkm bkn bmn",
    "linalg.batch_matmul_transpose_b": "bmk bnk bmn",
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
            f"tensor<{'x'.join(str(self.sizes[letter]) for letter in dims)}x{kind}>"
            for dims, kind in zip(
                (self.form or FORMS[self.op]).split(), (element, element, "i32"), strict=True
            )
        )
        return f"""\
func.func @f(%A : {a}, %B : {b}, %C : {c}) -> {c} {{
  %R = {self.op}{self.tail} ins(%A, %B : {a}, {b}) outs(%C : {c}) -> {c}
  func.return %R : {c}
}}
"""


SIZES = {"b": 3, "m": 5, "n": 7, "k": 6}
MATRICES = [op for op in FORMS if "vec" not in op]

products = st.builds(
    Product,
    st.sampled_from(MATRICES),
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


@pytest.mark.parametrize("op", [op for op in FORMS if "vec" in op])
@pytest.mark.parametrize("compile_", [compile_cpu, None], ids=["cpu", "accelerator"])
def test_products_with_a_vector(op: str, compile_: Callable[[str], object] | None) -> None:
    """The CPU has them at once: they read each element of the matrix for one multiply-add."""
    text = Product(op, SIZES).text
    if compile_ is not None:
        compile_(text)
        return
    with pytest.raises(CompileError) as caught:
        compile_mlir(text, isa.builtin("v3_4"))
    assert str(caught.value) == (
        f"input.mlir:2:3: {op}: v3_4 cannot execute it: it multiplies a matrix by a vector, which reads each "
        "element for one multiply-add: the CPU is faster"
    )
