"""Generated drivers against those by hand (``sw/baselines/``), and against the CPU alone, naive and NEON.

All do C += A.B on the same data, compiled -O3, each result checked. A ratio is a line's figure over that of
the published structure (one blocking transfer an opcode): below 1 the published structure loses.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from axiloom import boards, isa, sw
from axiloom.cosim.core import run_cpu
from axiloom.cosim.soc import Job, Soc
from axiloom.cosim.toolchain import compile_arm
from axiloom.drivergen import PIPELINES, matmul_mlir
from axiloom.workflow import Run

ACCELERATORS = ("v3_16", "v3_8")
FLOW = "Cs"
SIZES = (64, 128)
KERNELS = {"CPU, NEON": "cpu_neon", "CPU, naive": "cpu_naive"}
Counters = dict[str, int]


def compiled(folder: Path, source: str, size: int, **defines: int) -> Path:
    macros = {"M": size, "N": size, "K": size, **defines}
    elf = folder / f"{source}_{'_'.join(map(str, macros.values()))}.elf"
    return compile_arm([sw.BASELINES / f"{source}.c"], elf, board=boards.load(boards.DEFAULT), defines=macros)


def checked(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], what: str) -> None:
    if not np.array_equal(found, expected):
        raise AssertionError(f"{what} is wrong")


def measure(size: int, folder: Path) -> dict[str, dict[str, Counters]]:
    """Counters by accelerator ("" for the CPU alone), then by driver."""
    mlir = matmul_mlir(size, size, size, "int32")
    found: dict[str, dict[str, Counters]] = {"": {}}
    for name in ACCELERATORS:
        runs = {
            pipeline: Run(f"matmul:{size}", mlir, isa.builtin(name), flow=FLOW, pipeline=pipeline)
            for pipeline in PIPELINES
        }
        run = runs["published"]
        A, B, C = (run.inputs[f"axl_arg{i}"] for i in range(3))
        expected, form = C + A @ B, (C.shape, "int32")
        tile = run.driver.calls[0].tile[0]
        by_hand = compiled(folder, "v3", size, S=tile, **{f"FLOW_{FLOW}": 1})
        jobs = [
            *(
                Job(
                    one.build_elf(one.driver, folder / f"{name}_{size}_{pipeline}"),
                    run.inputs,
                    {"axl_arg2": form},
                )
                for pipeline, one in runs.items()
            ),
            Job(by_hand, {"A": A, "B": B, "C": C}, {"C": form}),
        ]
        *generated, hand = Soc(run.spec).run_many(jobs)
        for pipeline, result in zip(PIPELINES, generated, strict=True):
            checked(result.outputs["axl_arg2"], expected, f"{name} {pipeline}")
        checked(hand.outputs["C"], expected, f"{name} by hand")
        found[name] = {
            pipeline: result.counters for pipeline, result in zip(PIPELINES, generated, strict=True)
        } | {"by hand": hand.counters}
        if found[""]:
            continue
        for label, kernel in KERNELS.items():
            alone = run_cpu(
                compiled(folder, kernel, size),
                {"A": A, "B": B, "C": C},
                {"C": form},
                boards.load(boards.DEFAULT),
            )
            checked(alone.outputs["C"], expected, label)
            found[""][label] = alone.counters
    return found


def line(accelerator: str, size: int, driver: str, counters: Counters, generated: Counters) -> None:
    clock, references = counters["task-clock"], counters["cache-references"]
    of_clock, of_references = (
        counters[name] / generated[name] for name in ("task-clock", "cache-references")
    )
    print(
        f"{accelerator:>6} {size:>4} {driver:<11} {clock / 1e6:>9.3f} ms {of_clock:>7.2f} "
        f"{references:>17,} {of_references:>7.2f}"
    )


def main() -> None:
    print(f"C += A.B, int32, size^3, flow {FLOW}; ratios to `published`, below 1 where it loses")
    print(f"{'size':>11} {'':<11} {'task-clock':>12} {'ratio':>7} {'cache-references':>17} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            found = measure(size, Path(folder))
            for name in ACCELERATORS:
                generated = found[name]["published"]
                for driver, counters in {**found[name], **found[""]}.items():
                    line(name if driver in found[name] else "", size, driver, counters, generated)


if __name__ == "__main__":
    main()
