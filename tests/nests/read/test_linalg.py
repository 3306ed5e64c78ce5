"""linalg to nests, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from axiloom.base.errors import CompileError
from axiloom.nest.loops import of_model
from axiloom.nests.affine.interpret import interpret
from axiloom.nests.poly.checks import faults
from axiloom.nests.program import Role
from axiloom.nests.program.loaded import Loaded
from axiloom.nests.program.text import loops
from axiloom.read.context.model import Model

f32 = np.float32


def loaded(body: str, **weights: np.ndarray) -> Loaded:  # type: ignore[type-arg]
    found = of_model(Model("net.mlir", f"func.func @main{body}", weights))
    assert faults(found.program) == []
    return found


def ran(found: Loaded, *arguments: np.ndarray) -> list[np.ndarray]:  # type: ignore[type-arg]
    given = {f"arg{n}": value for n, value in enumerate(arguments)}
    memory = interpret(found.program, {**given, **found.contents})
    return [memory[each.name] for each in found.program.arrays if each.role.is_result]


MATMUL = """(%a: tensor<3x4xf32>, %w: tensor<5x4xf32> {axiloom.weight = "fc.w"}, %b: tensor<5xf32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<4x5xf32>
  %t = linalg.transpose ins(%w : tensor<5x4xf32>) outs(%e : tensor<4x5xf32>) permutation = [1, 0]
  %o = tensor.empty() : tensor<3x5xf32>
  %i = linalg.broadcast ins(%b : tensor<5xf32>) outs(%o : tensor<3x5xf32>) dimensions = [0]
  %r = linalg.matmul ins(%a, %t : tensor<3x4xf32>, tensor<4x5xf32>) outs(%i : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}"""  # noqa: E501


def test_transposes_and_broadcasts_are_subscripts() -> None:
    rng = np.random.default_rng(1)
    a, w, b = (rng.uniform(-1, 1, shape).astype(f32) for shape in ((3, 4), (5, 4), (5,)))
    found = loaded(MATMUL, **{"fc.w": w})
    assert [line for line in loops(found.program) if "S" in line] == [
        "    S0: result[d0][d1] = arg2[d1]",
        "      S1: result[d0][d1] = result[d0][d1] + (arg0[d0][d2] * fc_w[d1][d2])",
    ]
    assert found.contents["fc_w"] is not w
    expected = np.broadcast_to(b, (3, 5)).copy()
    for k in range(4):
        expected += a[:, k, None] * w.T[k]
    np.testing.assert_array_equal(ran(found, a, np.zeros(0), b)[0], expected)


def test_pad_pool_and_reshape() -> None:
    found = loaded(
        """(%x: tensor<2x4x4xf32>) -> tensor<8xf32> {
  %c = arith.constant -1.0 : f32
  %p = tensor.pad %x low[0, 1, 0] high[0, 0, 2] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c : f32
  } : tensor<2x4x4xf32> to tensor<2x5x6xf32>
  %s = tensor.extract_slice %p[0, 0, 1] [2, 4, 4] [1, 1, 1] : tensor<2x5x6xf32> to tensor<2x4x4xf32>
  %n = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x2x2xf32>
  %f = linalg.fill ins(%n : f32) outs(%e : tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %w = tensor.empty() : tensor<2x2xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(c, y, x, p, q) -> (c, 2*y + p, 2*x + q)>,
                                        affine_map<(c, y, x, p, q) -> (p, q)>,
                                        affine_map<(c, y, x, p, q) -> (c, y, x)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%s, %w : tensor<2x4x4xf32>, tensor<2x2xf32>) outs(%f : tensor<2x2x2xf32>) {
  ^bb0(%in: f32, %win: f32, %out: f32):
    %y = arith.maximumf %in, %out : f32
    linalg.yield %y : f32
  } -> tensor<2x2x2xf32>
  %r = tensor.collapse_shape %m [[0, 1, 2]] : tensor<2x2x2xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}"""
    )
    x = np.random.default_rng(2).uniform(-3, 1, (2, 4, 4)).astype(f32)
    padded = np.pad(x, ((0, 0), (1, 0), (0, 2)), constant_values=-1)[:, :4, 1:5]
    expected = padded.reshape(2, 2, 2, 2, 2).max((2, 4)).reshape(8)
    np.testing.assert_array_equal(ran(found, x)[0], expected)


def test_a_tensor_that_is_needed_again_is_not_added_to() -> None:
    """Value semantics: %i begins two sums, and is a result of a reshape and back."""
    generic = """linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}"""
    found = loaded(
        f"""(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>) {{
  %e = tensor.empty() : tensor<6xf32>
  %i = {generic} ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>) {{
  ^bb0(%in: f32, %out: f32):
    %y = arith.negf %in : f32
    linalg.yield %y : f32
  }} -> tensor<6xf32>
  %v = tensor.expand_shape %i [[0, 1]] output_shape [6, 1] : tensor<6xf32> into tensor<6x1xf32>
  %w = tensor.collapse_shape %v [[0, 1]] : tensor<6x1xf32> into tensor<6xf32>
  %r = {generic} ins(%x : tensor<6xf32>) outs(%w : tensor<6xf32>) {{
  ^bb0(%in: f32, %out: f32):
    %y = arith.addf %in, %out : f32
    linalg.yield %y : f32
  }} -> tensor<6xf32>
  return %i, %r : tensor<6xf32>, tensor<6xf32>
}}"""
    )
    x = np.arange(6).astype(f32)
    first, second = ran(found, x)
    np.testing.assert_array_equal(first, -x)
    np.testing.assert_array_equal(second, np.zeros(6))


def test_memrefs_are_written_in_place() -> None:
    found = loaded(
        """(%a: memref<3x4xi32>, %b: memref<4x2xi32>, %c: memref<3x2xi32>) {
  linalg.matmul ins(%a, %b : memref<3x4xi32>, memref<4x2xi32>) outs(%c : memref<3x2xi32>)
  return
}"""
    )
    assert [each.role for each in found.program.arrays] == [Role.IN, Role.IN, Role.INOUT]
    rng = np.random.default_rng(3)
    a, b, c = (rng.integers(-9, 9, shape, np.int32) for shape in ((3, 4), (4, 2), (3, 2)))
    np.testing.assert_array_equal(ran(found, a, b, c)[0], a @ b + c)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("(%x: tensor<?xf32>) { return }", "argument 0: a size is not known; shapes are constant"),
        ("(%x: tensor<4xf64>) { return }", "argument 0: elements of type f64; accepted are f32 and integers"),
        (
            """(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = math.tanh %in : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %t : tensor<4xf32>
}""",
            "net.mlir:3: linalg.generic: math.tanh is not known in a body",
        ),
    ],
)
def test_refused(body: str, message: str) -> None:
    with pytest.raises(CompileError) as error:
        loaded(body)
    assert message in str(error.value)


def test_weights_of_sequential_have_names_of_c() -> None:
    text = MATMUL.replace("fc.w", "0.w")
    weights = {"0.w": np.ones((5, 4), f32)}
    found = loaded(text, **weights)
    assert list(found.contents) == ["p0_w"]
    assert found.program.arrays[1].name == "p0_w"
