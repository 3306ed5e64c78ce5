"""Every family of kernels in one table: functional model, driver on the model, and driver on RTL, each equal?

- `model`: one tile through the functional model of the kernel's plain device, word by word, against the NumPy
  formula that stands in `KERNELS` here. Compiler and simulator take no part.
- `driver`: the driver for that device, through the simulated SoC with the functional model in the
  accelerator's place, against the evaluator of the MLIR.
- `RTL`: the driver for an engine of ours, or for the Verilog by hand of `examples/`, on RTL in Verilator.
  `add.v, a - b` is that file with another operation in its one line. Where there is no RTL, there is a dash.

`cycles` are of the fabric, from the driver's first instruction to the result in memory. `limit` is what the
busier stream or the array needs at least; of Verilog by hand it is the stream's.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from axiloom import isa
from axiloom.cosim.system import System
from axiloom.drivergen import parse_workload
from axiloom.drivergen.problems.kernels import parse_kernel
from axiloom.hw.rtl_files.user_rtl import UserRtl
from axiloom.isa import AcceleratorSpec, numerics
from axiloom.isa.files.device import device_of
from axiloom.isa.kernels.named import KERNELS as NAMED
from axiloom.isa.opcode_map.model import FunctionalModel
from axiloom.report.types import Report
from axiloom.run.problem import ProblemRun, Workload
from axiloom.run.run import report_of
from benchmarks.rows import pack_rows, unpack_rows

EXAMPLES = Path(__file__).parents[2] / "examples"
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Hardware:
    """What executes a problem in RTL: an engine of ours, or Verilog by hand with a part of it replaced."""

    name: str
    sg: bool = False
    """A DMA that reads where operands lie, and streams of 64 bits; else the CPU copies tiles, and 32."""
    verilog: str = ""
    """A file of `examples/`; its specification has the same name."""
    replaced: tuple[str, str] = ("", "")
    kernel: str = ""
    """In place of the specification's."""

    def spec(self, kind: str) -> AcceleratorSpec:
        if not self.verilog:
            spec = isa.builtin(self.name, data_type=kind)
            dma = replace(spec.link.dma, scatter_gather=self.sg)
            return isa.revise(spec, stream_width=64 if self.sg else 32, dma=dma)
        return _spec_of(self)


@cache
def _spec_of(hardware: Hardware) -> AcceleratorSpec:
    document = json.loads((EXAMPLES / hardware.verilog).with_suffix(".json").read_text())
    body = document["accelerators"][0]
    if hardware.kernel:
        body["kernel"] = hardware.kernel
        for operand in [
            operand for operand in body["data"] if operand not in NAMED[hardware.kernel].operands
        ]:
            del body["data"][operand], body["buffers"][operand], body["device"][f"s{operand}"]
            literal = f"s{operand} = [send_literal(3), send({operand})], "
            body["opcode_map"] = body["opcode_map"].replace(literal, "")
            body["opcode_flow_map"]["plain"] = body["opcode_flow_map"]["plain"].replace(f" s{operand}", "")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(document, file)
        file.flush()
        return isa.load(file.name)


@dataclass(frozen=True)
class Case:
    """A kernel, the problem that is run, and what NumPy says of one tile of the inputs (int64)."""

    title: str
    kernel: str
    formula: Callable[..., Array]
    problem: str
    """For the driver: as on the command line, or MLIR."""
    hardware: Hardware | None = None
    rtl_problem: str = ""
    """Where an engine has another form of it."""


def _windows(image: Array, taps: tuple[int, int], outputs: tuple[int, int]) -> Array:
    """(..., oh, ow, fh, fw) of an image (..., ih, iw), strides 1."""
    seen = np.lib.stride_tricks.sliding_window_view(image, taps, axis=(-2, -1))
    return seen[..., : outputs[0], : outputs[1], :, :]


def _conv(image: Array, filters: Array) -> Array:
    taps = (filters.shape[-2], filters.shape[-1])
    outputs = (image.shape[-2] - taps[0] + 1, image.shape[-1] - taps[1] + 1)
    return np.einsum("chwyx,fcyx->fhw", _windows(image, taps, outputs), filters)


def _depthwise(image: Array, filters: Array) -> Array:
    return np.concatenate([_conv(i[None], f[None, None]) for i, f in zip(image, filters, strict=True)])


def _grouped(image: Array, filters: Array) -> Array:
    return np.stack([_conv(i, f) for i, f in zip(image, filters, strict=True)])


def _pooled(how: Callable[..., Array]) -> Callable[[Array], Array]:
    """Over windows of 3 x 3."""

    def pool(image: Array) -> Array:
        outputs = (image.shape[-2] - 2, image.shape[-1] - 2)
        pooled: Array = how(_windows(image, (3, 3), outputs), axis=(-2, -1))
        return pooled

    return pool


NHWC = """\
func.func @conv(%I : memref<1x10x12x8xi8>, %F : memref<3x3x8x16xi8>, %O : memref<1x8x10x16xi32>) {
  linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%I, %F : memref<1x10x12x8xi8>, memref<3x3x8x16xi8>) outs(%O : memref<1x8x10x16xi32>)
  func.return
}
"""
CONV = "conv_2d_nchw_fchw:oc=16,oh=8,ow=10,ic=8,fh=3,fw=3:int8"
GROUPED = "conv_2d_ngchw_gfchw:g=4,oc=4,oh=8,ow=10,ic=4,fh=3,fw=3:int8"
DEPTHWISE = "depthwise_conv_2d_nchw_chw:c=8,oh=10,ow=12,fh=3,fw=3:int8"
POOLED = "c=6,oh=14,ow=17,fh=3,fw=3,sh=2,sw=2"
V3, CONV_V4 = Hardware("v3"), Hardware("conv_v4", sg=True)


def _elementwise(operation: str, kernel: str) -> Hardware:
    line = ("a[at] + b[at]", operation)
    return Hardware(f"add.v, {operation}", verilog="elementwise/add.v", replaced=line, kernel=kernel)


CASES: Sequence[Case] = (
    Case("matmul", "linalg.matmul", np.matmul, "linalg.matmul:m=40,n=24,k=32", V3, "matmul:40x24x32"),
    Case(
        "matmul, A transposed",
        "linalg.matmul_transpose_a",
        lambda a, b: a.T @ b,
        "matmul_transpose_a:m=40,n=24,k=32",
        V3,
    ),
    Case(
        "matmul, B transposed",
        "linalg.matmul_transpose_b",
        lambda a, b: a @ b.T,
        "matmul_transpose_b:m=40,n=24,k=32",
        V3,
    ),
    Case("batch matmul", "linalg.batch_matmul", np.matmul, "batch_matmul:b=3,m=24,n=20,k=16", V3),
    Case("matvec", "linalg.matvec", np.matmul, "linalg.matvec:m=64,k=64:int8", CONV_V4),
    Case("vecmat", "linalg.vecmat", np.matmul, "linalg.vecmat:n=64,k=64:int8", CONV_V4),
    Case("dot", "linalg.dot", np.matmul, "linalg.dot:k=1024:int8", CONV_V4),
    Case("conv NCHW", "linalg.conv_2d_nchw_fchw", _conv, CONV, CONV_V4),
    Case("conv NHWC", "linalg.conv_2d_nchw_fchw", _conv, NHWC, CONV_V4),
    Case("depthwise conv", "linalg.depthwise_conv_2d_nchw_chw", _depthwise, DEPTHWISE, CONV_V4),
    Case("grouped conv", "linalg.conv_2d_ngchw_gfchw", _grouped, GROUPED, CONV_V4),
    Case("copy", "linalg.copy", lambda a: a, "linalg.copy:n=1000:int32", Hardware("identity"), "copy:1000"),
    Case(
        "add",
        "linalg.add",
        np.add,
        "add:n=1000",
        Hardware("add.v", verilog="elementwise/add.v"),
        "add:n=1000",
    ),
    Case("sub", "linalg.sub", np.subtract, "sub:n=1000", _elementwise("a[at] - b[at]", "linalg.sub")),
    Case("mul", "linalg.mul", np.multiply, "mul:n=1000", _elementwise("a[at] * b[at]", "linalg.mul")),
    Case(
        "max",
        "linalg.max",
        np.maximum,
        "max:n=1000",
        _elementwise("$signed(a[at]) > $signed(b[at]) ? a[at] : b[at]", "linalg.max"),
    ),
    Case(
        "min",
        "linalg.min",
        np.minimum,
        "min:n=1000",
        _elementwise("$signed(a[at]) < $signed(b[at]) ? a[at] : b[at]", "linalg.min"),
    ),
    Case(
        "relu",
        "relu",
        lambda a: np.maximum(a, 0),
        "relu:n=1000",
        _elementwise("a[at][31] ? 32'd0 : a[at]", "relu"),
    ),
    Case(
        "scale and shift",
        "scale_shift",
        lambda a, s, t: a * s[:, None] + t[:, None],
        "scale_shift:c=20,n=50:int8",
    ),
    Case("reduction, sum", "reduce_sum", lambda a: a.sum(axis=1), "reduce_sum:m=40,k=50:int8"),
    Case("reduction, maximum", "reduce_max", lambda a: a.max(axis=1), "reduce_max:m=40,k=50:int16"),
    Case(
        "max pooling",
        "linalg.pooling_nchw_max",
        _pooled(np.max),
        f"max_pooling:{POOLED}:int8",
        Hardware("maxpool.v", verilog="pooling/maxpool.v"),
    ),
    Case(
        "min pooling",
        "pooling_nchw_min",
        _pooled(np.min),
        f"min_pooling:{POOLED}:int8",
        Hardware(
            "maxpool.v, value < best",
            verilog="pooling/maxpool.v",
            replaced=("value > best", "value < best"),
            kernel="pooling_nchw_min",
        ),
    ),
    Case("average pooling", "linalg.pooling_nchw_sum", _pooled(np.sum), f"average_pooling:{POOLED}:int8"),
)
"""A kernel is added here, with NumPy's formula and a problem."""


@dataclass(frozen=True)
class Row:
    case: Case
    model: bool
    driver: bool
    rtl: bool | None
    cycles: int | None = None
    limit: int | None = None

    @property
    def equal(self) -> bool:
        return self.model and self.driver and self.rtl is not False


def _type(case: Case) -> str:
    return "int8" if case.problem is NHWC else parse_workload(case.problem).dtype


def through_model(case: Case) -> bool:
    """One tile of the plain device through its functional model, against the formula."""
    kernel, kind = NAMED[case.kernel], numerics.of(_type(case))
    spec = device_of(kernel, data_type=kind)
    rng = np.random.default_rng(0)
    words = [np.array([1, *(spec.sizes()[dim] for dim in _set_dims(spec))], np.uint32)]
    tiles = []
    for number, operand in enumerate(kernel.inputs):
        shape = spec.operand_shape(operand)
        tiles.append(kind.random(rng, shape))
        payload = pack_rows(tiles[-1], kind, 0, spec.words_of(operand, shape))
        words += [np.array([2 + number], np.uint32), payload]
    at = 2 + len(kernel.inputs)
    words.append(np.array([at, at + 1], np.uint32))
    model = FunctionalModel(spec)
    sent = model.feed(np.concatenate(words))
    if model.code:
        return False
    shape = spec.operand_shape(kernel.output)
    result = unpack_rows(sent, spec.result_type, shape, 0)
    expected = case.formula(*(tile.astype(np.int64) for tile in tiles))
    return bool(np.array_equal(result, expected.astype(spec.result_type.numpy)))


def _set_dims(spec: AcceleratorSpec) -> list[str]:
    return [*spec.form.dims, *(setting.name for setting in spec.form.settings)]


def on_model(case: Case) -> bool:
    """The driver of the plain device, with the functional model in the accelerator's place."""
    spec = device_of(case.kernel, data_type=_type(case))
    if case.problem is not NHWC and parse_kernel(case.problem).kernel.name != case.kernel:
        raise ValueError(f"{case.title}: {case.problem} is a problem of another kernel")
    return bool(_run(case.problem, spec, model=True)["result"]["matches"])


def _run(problem: str, spec: AcceleratorSpec, **how: Any) -> Report:
    workload = Workload("conv.mlir", problem) if problem is NHWC else Workload.of(problem)
    return report_of(ProblemRun(workload, System(spec, **how)))


def on_rtl(case: Case, hardware: Hardware) -> Report:
    """The report of the driver on RTL in Verilator."""
    spec, problem = hardware.spec(_type(case)), case.rtl_problem or case.problem
    if not hardware.verilog:
        return _run(problem, spec)
    source = EXAMPLES / hardware.verilog
    text, (old, new) = source.read_text(), hardware.replaced
    if old and text.count(old) != 1:
        raise ValueError(f"{source} has `{old}` {text.count(old)} times; one is to be replaced")
    with tempfile.TemporaryDirectory(prefix="axiloom-") as folder:
        file = Path(folder, source.name)
        file.write_text(text.replace(old, new) if old else text)
        return _run(problem, spec, user_rtl=UserRtl([file], source.stem))


def measured(case: Case, *, rtl: bool = True) -> Row:
    """All columns of a case; without `rtl` those of the model."""
    model, driver = through_model(case), on_model(case)
    if case.hardware is None or not rtl:
        return Row(case, model, driver, None)
    report = on_rtl(case, case.hardware)
    limit = report["limit"]["stream_cycles" if case.hardware.verilog else "cycles"]
    return Row(case, model, driver, report["result"]["matches"], report["fabric"]["cycles"], limit)


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """The table, as Markdown."""
    yield "| kernel | problem | model | driver | RTL | by | cycles | limit | cycles / limit |"
    yield "|---|---|---|---|---|---|---:|---:|---:|"
    for row in rows:
        case, words = row.case, {True: "equal", False: "NOT EQUAL", None: "-"}
        problem = "conv_2d_nhwc_hwcf, the same" if case.problem is NHWC else case.problem
        by = case.hardware.name if case.hardware is not None and row.rtl is not None else "-"
        figures = ("-", "-", "-")
        if row.cycles is not None and row.limit:
            figures = (f"{row.cycles:,}", f"{row.limit:,}", f"{row.cycles / row.limit:.2f}")
        equal = (words[row.model], words[row.driver], words[row.rtl])
        yield f"| {' | '.join((case.title, problem, *equal, by, *figures))} |"


def main() -> None:
    rows = [measured(case) for case in CASES]
    print("\n".join(lines(rows)))
    wrong = [row.case.title for row in rows if not row.equal]
    rtl = sum(row.rtl is not None for row in rows)
    print(f"{len(rows)} kernels, {rtl} of them on RTL; {len(rows) - len(wrong)} equal wherever they ran")
    if wrong:
        raise SystemExit(f"not equal to NumPy: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
