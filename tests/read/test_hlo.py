"""HLO and StableHLO: what JAX prints computes what NumPy does; what is not read is refused with its line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.graph.text import text_of
from tests.read.references import REFERENCES

from axiloom.graph import Graph
from axiloom.graph.evaluate import evaluate
from axiloom.graph.numbers import number
from axiloom.read import ReadError, read
from axiloom.read.hlo import classic, lexer, literals, stablehlo
from axiloom.read.hlo.build import build

GOLDEN = Path(__file__).parent / "golden"
TEXTS = sorted(GOLDEN.iterdir())


def inputs_of(graph: Graph) -> list[Any]:
    rng, found = np.random.default_rng(0), []
    for one in graph.parameters:
        of, shape = number(one.type.number), one.type.shape
        if of.kind == "float":
            found.append(of.encode(rng.normal(size=shape) * (0.3 if of.bits == 16 else 1)))
        elif of.kind == "bool":
            found.append(rng.integers(0, 2, shape).astype(np.bool_))
        else:
            drawn = rng.integers(-120, 120, shape).astype(of.host)
            found.append(np.where(drawn == 0, 7, drawn).astype(of.host))
    return found


@pytest.mark.parametrize("path", TEXTS, ids=lambda one: one.name)
def test_golden(path: Path) -> None:
    graph = read(path)
    arrays = inputs_of(graph)
    given_ = {str(one.attributes["name"]): array for one, array in zip(graph.parameters, arrays, strict=True)}
    values = [
        number(one.type.number).decode(array) for one, array in zip(graph.parameters, arrays, strict=True)
    ]
    with np.errstate(all="ignore"):
        wanted = REFERENCES[path.name.split(".")[0]](*(_wide(one) for one in values))
    found = evaluate(graph, given_)
    assert len(found) == len(wanted)
    for one, right, node in zip(found, wanted, graph.results, strict=True):
        of = number(node.type.number)
        assert one.shape == np.shape(right)
        error = 0.03 if of.name == "bfloat16" else 1e-5
        np.testing.assert_allclose(_wide(of.decode(one)), right, rtol=error, atol=error)


def _wide(values: Any) -> Any:
    return values.astype(np.float64) if values.dtype.kind == "f" else values


def test_reading_twice_gives_the_same_text() -> None:
    path = GOLDEN / "lstm.mlir"
    assert text_of(read(path)) == text_of(read(path))


def hlo(body: str) -> Graph:
    return build(classic.parse(f"ENTRY main {{\n{body}\n}}\n", "t.hlo"), "t.hlo")


def mlir(body: str, argument: str = "tensor<2x2xf32>", result: str = "tensor<2x2xf32>") -> Graph:
    text = f"func.func @main(%arg0: {argument}) -> {result} {{\n{body}\n}}\n"
    return build(stablehlo.parse(text, "t.mlir"), "t.mlir")


def test_dimensions_of_broadcast_count() -> None:
    """What ACT's oracle ignores: a row's number in its row, or in its column."""
    texts = [f"x = f32[2] parameter(0)\nROOT y = f32[2,2] broadcast(x), dimensions={{{i}}}" for i in (0, 1)]
    rows, columns = (evaluate(hlo(one), {"x": np.array([1, 2], np.float32)})[0].tolist() for one in texts)
    assert rows == [[1, 1], [2, 2]]
    assert columns == [[1, 2], [1, 2]]


def test_contracting_dimensions_count() -> None:
    """What ACT's reader dropped: Q K^T is not Q K."""
    text = "q = f32[2,2] parameter(0)\nk = f32[2,2] parameter(1)\nROOT s = f32[2,2] dot(q, k), "
    q, k = np.array([[1, 2], [3, 4]], np.float32), np.array([[5, 6], [7, 8]], np.float32)
    for right, wanted in ((0, q @ k), (1, q @ k.T)):
        graph = hlo(f"{text}lhs_contracting_dims={{1}}, rhs_contracting_dims={{{right}}}")
        np.testing.assert_array_equal(evaluate(graph, {"q": q, "k": k})[0], wanted)


def test_constants() -> None:
    cases = {
        "dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>": [[1, 2], [3, 4]],
        "dense<7> : tensor<2xi32>": [7, 7],
        "dense<0xFF800000> : tensor<f32>": -np.inf,
        'dense<"0x0000803F00000040"> : tensor<2xf32>': [1, 2],
        'dense<"0xFF"> : tensor<3xi8>': [-1, -1, -1],
        "dense<[true, false]> : tensor<2xi1>": [True, False],
        "dense<1.5> : tensor<2xbf16>": [1.5, 1.5],
    }
    for text, wanted in cases.items():
        type_ = text.split(" : ")[1]
        graph = mlir(f"%0 = stablehlo.constant {text}\nreturn %0 : {type_}", result=type_)
        (found,) = evaluate(graph, {"arg0": np.zeros((2, 2), np.float32)})
        assert number(graph.results[0].type.number).decode(found).tolist() == wanted


def test_older_texts_give_operands_shapes() -> None:
    graph = hlo("%x = f32[2]{0} parameter(0)\nROOT %y = f32[2]{0} add(f32[2]{0} %x, f32[2]{0} %x)")
    assert evaluate(graph, {"x": np.ones(2, np.float32)})[0].tolist() == [2, 2]


X = "x = f32[2,2] parameter(0)\n"
REFUSED_HLO = [
    (f"{X}ROOT y = f32[2,2] frobnicate(x)", "line 3: frobnicate is not read; known are abs,"),
    (f"{X}ROOT y = f32[2,2] add(x, x), colour=blue", "line 3: add: colour=blue is not read"),
    (f"{X}ROOT y = f32[2,2] add(x, z)", "line 3: z is not known here"),
    (f"{X}ROOT y = f32[2,3] add(x, x)", "line 3: add gives 2x2xfloat32, not 2x3xfloat32"),
    (f"{X}ROOT y = f32[2,2] add(x)", "line 3: add: takes 2 operands, not 1"),
    (f"{X}x = f32[2,2] add(x, x)", "line 3: x twice"),
    (f"{X}ROOT y = f8e4m3[2,2] convert(x)", "t.hlo:3: f8e4m3[2,2]: numbers are f32, f64,"),
    (f"{X}ROOT y = f32[2,<=2] add(x, x)", "t.hlo:3: f32[2,<=2]: sizes must be known numbers"),
    (f'{X}ROOT y = f32[2,2] custom-call(x), custom_call_target="f"', "line 3: custom_call is not read"),
    (
        f"{X}c = f32[] constant(0)\nROOT y = f32[2] reduce(x, c), dimensions={{0}}, to_apply=none",
        "no body none",
    ),
    (f"{X}ROOT y = f32[2,2] call(x), to_apply=main", "calls more than 32 deep"),
    (f"{X}ROOT y = f32[3] constant({{1, 2}})", "t.hlo:3: a constant of 2 numbers where 3xfloat32 has 3"),
    (f"{X}ROOT y = f32[2,2] constant({{1, 2, 3, 4}})", "t.hlo:3: a constant whose lists are not those"),
    (f"{X}ROOT y = f32[3] constant({{...}})", "t.hlo:3: the constant's contents are left out"),
    (f"{X}ROOT y = s8[] constant(300)", "300 is no int8"),
    (f"{X}ROOT y = f32[2,2] broadcast(x), dimensions={{0,0}}", "a dimension twice in (0, 0)"),
    (f"{X}ROOT y = f32[1,2,1,2] bitcast(x)", "both layouts plain such as {1,0}"),
    (f"{X}ROOT y = f32[2,2] convolution(x, x), window={{size=1 shape=2}}, dim_labels=bf_io->bf", "shape"),
    ("x = f32[2,2] parameter(1)", "has the parameters [1]: 0, 1, ... are needed"),
]


@pytest.mark.parametrize(("body", "reason"), REFUSED_HLO)
def test_refused_hlo(body: str, reason: str) -> None:
    with pytest.raises(ReadError) as caught:
        hlo(body)
    assert reason in str(caught.value)
    assert str(caught.value).startswith("t.hlo:")
    assert "\n" not in str(caught.value)


_REDUCE = "%c = stablehlo.constant dense<0.0> : tensor<f32>\n%0 = stablehlo.reduce(%arg0 init: %c) "
_TYPES = ": (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>"
REFUSED_MLIR = [
    ("%0 = stablehlo.frobnicate %arg0 : tensor<2x2xf32>", "line 2: frobnicate is not read; known are abs,"),
    ("%0 = stablehlo.abs %arg0 {colour = 1 : i64} : tensor<2x2xf32>", "line 2: abs: colour=1 is not read"),
    ("%0 = stablehlo.abs %arg1 : tensor<2x2xf32>", "line 2: %arg1 is not known here"),
    ("%0 = stablehlo.abs %arg0 : tensor<?x2xf32>", "t.mlir:2: tensor<?x2xf32>: sizes must be known numbers"),
    ("%0 = stablehlo.abs %arg0 : tensor<2x2xi4>", "t.mlir:2: tensor<2x2xi4>: numbers are f32, f64,"),
    (
        "%0 = stablehlo.convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3xi8>",
        "convert is given 2x2xfloat32, not",
    ),
    ("%0 = stablehlo.constant dense_resource<big> : tensor<2xf32>", "a constant must be dense<...>"),
    (
        f"{_REDUCE}applies stablehlo.subtract across dimensions = [1] {_TYPES}",
        "line 3: reduce: a body of subtract",
    ),
    (
        "%0 = stablehlo.slice %arg0 [0:3, 0:2] : (tensor<2x2xf32>) -> tensor<3x2xf32>",
        "a slice from 0 to 3 of 2",
    ),
    ("%0 = stablehlo.compare LT, %arg0, %arg0, TOTALORDER : tensor<2x2xf32>", "TOTALORDER is not read"),
    ("%0 = stablehlo.while(%arg0) : tensor<2x2xf32>", "while is not read"),
    (
        "%0 = stablehlo.abs %arg0 : tensor<2x2xf32>\n%0 = stablehlo.abs %arg0 : tensor<2x2xf32>",
        "line 3: %0 twice",
    ),
    ("%0 = stablehlo.abs %arg0", "line 2: abs: takes 1 operands, not 2"),
    ("call @main(%arg0) : (tensor<2x2xf32>) -> tensor<2x2xf32>", "calls more than 32 deep"),
]


@pytest.mark.parametrize(("body", "reason"), REFUSED_MLIR)
def test_refused_stablehlo(body: str, reason: str) -> None:
    with pytest.raises(ReadError) as caught:
        mlir(f"{body}\nreturn %arg0 : tensor<2x2xf32>")
    assert reason in str(caught.value)
    assert str(caught.value).startswith("t.mlir:")


def test_a_body_must_be_one_operation_of_both_arguments() -> None:
    generic = '%0 = "stablehlo.reduce"(%arg0, %c) <{dimensions = array<i64: 1>}> ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%s = stablehlo.add BODY : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}) '  # noqa: E501
    text = (
        "%c = stablehlo.constant dense<0.0> : tensor<f32>\n"
        + generic
        + _TYPES
        + "\nreturn %0 : tensor<2xf32>"
    )
    graph = mlir(text.replace("BODY", "%b, %a"), result="tensor<2xf32>")
    assert [one.op for one in graph.nodes()] == ["parameter", "reduce"]
    with pytest.raises(ReadError, match="not one operation of its two arguments"):
        mlir(text.replace("BODY", "%a, %a"), result="tensor<2xf32>")


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexer, "MOST_TOKENS", 10)
    with pytest.raises(ReadError, match="more than 10 tokens"):
        read(GOLDEN / "mlp.hlo")
    monkeypatch.setattr(lexer, "MOST_CHARACTERS", 100)
    with pytest.raises(ReadError, match="at most 100 are read"):
        read(GOLDEN / "mlp.hlo")
    monkeypatch.setattr(literals, "MOST_ELEMENTS", 3)
    with pytest.raises(ReadError, match=r"at most \d+ are read"):
        mlir("%0 = stablehlo.constant dense<0> : tensor<4xi8>\nreturn %0 : tensor<4xi8>")


@pytest.mark.parametrize("nested", ["(" * 5000, "{" * 5000, "[" * 5000, "tuple(" * 5000])
def test_deep_texts_are_refused(nested: str) -> None:
    for body in (f"x = {nested}", f"x = f32[] constant({nested}", f"x = f32[] add(x), a={nested}"):
        with pytest.raises(ReadError):
            hlo(body)
    for body in (f"%0 = stablehlo.abs {nested}", f"%0 = stablehlo.abs a = {nested}"):
        with pytest.raises(ReadError):
            mlir(body)


_PUT = ["", "{", "}", "(", "]", "<", "%", "-1", "99999999999", '"', "x", "f32[", ",", "="]


@settings(max_examples=150)
@given(data=st.data())
def test_damaged_texts_are_read_or_refused(data: st.DataObject) -> None:
    """Any text gives a graph or a ReadError of one line: no other exception, no hang."""
    path = data.draw(st.sampled_from([one for one in TEXTS if one.stat().st_size < 5000]))
    text = path.read_text()
    words = re.findall(r"[\w.]+", text)
    for _ in range(data.draw(st.integers(1, 3))):
        if data.draw(st.booleans()):
            text = text.replace(data.draw(st.sampled_from(words)), data.draw(st.sampled_from(words)), 1)
        at = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 20))
        put = data.draw(st.sampled_from(_PUT))
        text = text[:at] + put + text[at + gone :]
    parse = stablehlo.parse if path.suffix == ".mlir" else classic.parse
    try:
        build(parse(text, "t"), "t")
    except ReadError as error:
        assert "\n" not in str(error)  # noqa: PT017
