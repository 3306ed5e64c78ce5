"""The C: golden files, warnings, what it must not contain, names."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.drivergen import host
from tests.drivergen.programs import Generic
from tests.drivergen.test_drivers import CHAIN

from axiloom import isa
from axiloom.base.errors import CompileError
from axiloom.drivergen import Driver, compile_cpu, compile_mlir, matmul_mlir
from axiloom.drivergen.c import emit as emit_c
from axiloom.drivergen.dialects.mlir import parse
from axiloom.plan.caches import Caches

Golden = Callable[[str, str], None]


OPTIMISED = {
    "coalesced": "coalesced",
    "cache_tiling": "cache-tiling",
    "coalesce": "coalesce",
    "keep_packed": "coalesce,keep-packed",
    "double_buffer": "coalesce,keep-packed,double-buffer",
    "copying": "copying",
    "all": "all",
}
"""What is behind ``v3_16_Cs_`` in the name of a golden file, and its pipeline: each has one pass more."""


def v3_16_Cs(pipeline: str) -> Driver:
    spec = isa.builtin("v3_16")
    spec = isa.revise(spec, dma=replace(spec.link.dma, scatter_gather=pipeline == "all"))
    if pipeline == "cache-tiling":  # 60 x 72 x 80 fits any L2, and 72 columns are a prime number of tiles
        small = Caches(l2_size=64 << 10)
        return compile_mlir(matmul_mlir(192, 192, 80), spec, flow="Cs", pipeline=pipeline, caches=small)
    return compile_mlir(matmul_mlir(60, 72, 80), spec, flow="Cs", pipeline=pipeline)


def test_golden_driver(golden: Golden) -> None:
    driver = v3_16_Cs("published")
    golden(driver.c, "v3_16_Cs.c")
    golden(driver.header, "v3_16_Cs.h")
    golden(driver.harness, "v3_16_Cs_main.c")


@pytest.mark.parametrize("name", OPTIMISED)
def test_golden_optimised(name: str, golden: Golden) -> None:
    golden(v3_16_Cs(OPTIMISED[name]).c, f"v3_16_Cs_{name}.c")


def test_golden_resident(golden: Golden) -> None:
    """Cs leaves nothing to reside; in Ns it is B, where the rows of A are the innermost loop."""
    order = ("n", "k", "m")
    text, spec = matmul_mlir(60, 72, 80), isa.builtin("v3_16")
    golden(compile_mlir(text, spec, flow="Ns", order=order, pipeline="residency").c, "v3_16_Ns_residency.c")


def test_golden_cpu(golden: Golden) -> None:
    golden(compile_cpu(matmul_mlir(60, 72, 80, "int8")).c, "cpu_int8.c")


def test_golden_chain(golden: Golden) -> None:
    golden(compile_mlir(CHAIN, isa.builtin("v3_4", encoding="literals")).c, "chain.c")


def write(driver: Driver, folder: Path) -> list[Path]:
    files = {"driver.c": driver.c, driver.header_name: driver.header, "main.c": driver.harness}
    for name, text in files.items():
        (folder / name).write_text(text)
    return [folder / "driver.c", folder / "main.c"]


@pytest.mark.parametrize("cpu", [False, True])
def test_cross_compiler_has_no_warnings(cpu: bool, tmp_path: Path) -> None:
    text = matmul_mlir(7, 13, 5)
    driver = compile_cpu(text) if cpu else compile_mlir(text, isa.builtin("v4_16"))
    zig = [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        "-target",
        "arm-freestanding-eabihf",
        "-mcpu=cortex_a9",
        "-O3",
    ]
    for file in write(driver, tmp_path):
        command = [*zig, *host.WARNINGS, f"-I{host.SW / 'include'}", f"-I{tmp_path}", "-c", str(file)]
        result = subprocess.run(
            [*command, "-o", str(file.with_suffix(".o"))], capture_output=True, text=True, check=False
        )
        assert (result.returncode, result.stderr) == (0, "")


def test_stack_does_not_grow_with_the_problem(tmp_path: Path) -> None:
    used = []
    for size in (16, 1024):
        driver = compile_mlir(Generic(size, size, size, tensors=True, zeroed=True).text, isa.builtin("v3_16"))
        source = write(driver, tmp_path)[0]
        host.gcc(
            "-c", "-std=c99", "-fstack-usage", f"-I{host.SW / 'include'}", source, "-o", tmp_path / "driver.o"
        )
        used.append([line.split("\t")[1] for line in (tmp_path / "driver.su").read_text().splitlines()])
    assert used[0] == used[1]
    assert all(int(size) < 512 for size in used[0])


@pytest.mark.parametrize("text", [CHAIN, matmul_mlir(7, 13, 5)])
def test_no_allocation(text: str) -> None:
    driver = compile_mlir(text, isa.builtin("v3_4"))
    assert "alloc" not in driver.c + driver.harness


NAMES = {
    "m": "m",
    "int": "int_",
    "main": "main_",
    "dma_init": "xdma_init",
    "TRY": "xTRY",
    "int32_t": "xint32_t",
    "my-net.0": "my_net_0",
    "0": "v0",
    "": "v",
}


@pytest.mark.parametrize("name", NAMES)
def test_identifier(name: str) -> None:
    assert emit_c.identifier(name) == NAMES[name]


def test_names_that_collide_still_compile_and_compute() -> None:
    """Arguments called as keywords, loops, constants or functions of the runtime."""
    text = (
        matmul_mlir(5, 6, 7)
        .replace("@matmul", "@main")
        .replace("%A", "%for")
        .replace("%B", "%m")
        .replace("%C", "%dma_init")
    )
    driver, _ = host.check(text, isa.builtin("v3_4"))
    assert driver.function == "main_"
    host.check(matmul_mlir(5, 6, 7).replace("@matmul", "@A"), isa.builtin("v3_4"))  # as its argument


def test_no_c_for_it() -> None:
    module = parse("func.func @f() {\n  %x = ub.poison : i32\n  func.return\n}")
    with pytest.raises(CompileError, match=r"^input\.mlir:2:3: ub\.poison: there is no C for it$"):
        emit_c.emit(module, "banner", "x.h")
