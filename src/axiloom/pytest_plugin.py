"""pytest plugin: the fixtures ``soc`` and ``prove``, with which users test their own accelerator and driver.

::

    def test_my_driver(soc):
        chip = soc("accelerator.json", rtl=["accelerator.v"], top="accelerator")
        result = chip.run("driver.c", inputs={"A": a, "B": b}, outputs={"C": (c.shape, "int32")})
        assert (result.outputs["C"] == a @ b).all()
        assert result.counters["cache-misses"] < 10_000

    def test_my_instructions(prove):
        prove("accelerator.json")

``--axiloom-sim icarus`` runs every such test on the other simulator.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:  # pytest loads this plugin in every project of the environment: import nothing heavy
    import numpy as np

    from axiloom.cosim.job import Result
    from axiloom.cosim.soc import Soc
    from axiloom.cosim.system import System
    from axiloom.isa import AcceleratorSpec
    from axiloom.prove.verdict import Verdict
    from axiloom.report.types import Report


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("axiloom").addoption(
        "--axiloom-sim",
        choices=("verilator", "icarus"),
        default="verilator",
        help="simulator of the soc fixture (default: %(default)s)",
    )


@dataclass(frozen=True)
class Chip:
    """One simulated SoC: built when it is first run, and from the cache ever after."""

    system: System
    soc: Soc
    folder: Path

    @property
    def specs(self) -> tuple[AcceleratorSpec, ...]:
        """All of them, by their numbers."""
        return self.system.specs

    @property
    def spec(self) -> AcceleratorSpec:
        """The first accelerator, which most often is the only one."""
        return self.specs[0]

    def run(
        self,
        driver: Path | str | Sequence[Path | str],
        inputs: Mapping[str, np.ndarray[Any, Any]] | None = None,
        outputs: Mapping[str, tuple[tuple[int, ...], str]] | None = None,
        *,
        defines: Sequence[str] = (),
        include: Sequence[Path | str] = (),
    ) -> Result:
        """Run C and C++ sources (compiled with the runtime in ``sw/``) or an ELF to the end of its main.

        `defines`: macros, ``NAME`` or ``NAME=VALUE``; `include`: folders with headers. The compiler's
        warnings become pytest's.

        With several accelerators C has AXL_ID_<name> for dma_select and AXL_DMA_<name> for dma_init.
        `inputs` fills arrays by symbol before main; `outputs` (symbol to shape and type) reads them after.
        Raises `CompileError`, `BuildError`, `HangError`, `StaleDataError` (old data by the caches),
        `DriverError` (also for a wrong use of the DMA's registers, and an access beside one of these arrays)
        or `ProtocolError` (a rule of a bus is broken), each with one line.
        """
        from axiloom.cosim.build.user_code import Given
        from axiloom.cosim.job import Job
        from axiloom.cosim.soc import judge

        files = [Path(f) for f in ([driver] if isinstance(driver, (str, Path)) else driver)]
        elf = files[0]
        if elf.suffix != ".elf":
            elf = self.folder / "driver.elf"
            given = Given(tuple(defines), tuple(map(Path, include)))
            _, said = self.system.compile_user(files, elf, given, {*(inputs or {}), *(outputs or {})})
            for one in said:
                warnings.warn(one, stacklevel=2)
        self.soc.build()
        result = self.soc.run_many([Job(elf, dict(inputs or {}), dict(outputs or {}))])[0]
        judge(result)
        return result

    def matmul(self, M: int, N: int, K: int, *, seed: int = 0, **options: Any) -> Report:
        """Compile, run and check C (M, N) += A (M, K) . B (K, N); `options`: `flow`, `tile`, `pipeline`.

        Raises `UsageError` with several accelerators: their driver is the test's own.
        """
        from axiloom.drivergen import matmul_mlir

        dtype = self.spec.data_type.value
        name = f"matmul:{M}x{N}x{K}:{dtype}"
        return self._checked("matmul", name, matmul_mlir(M, N, K, dtype), seed, options)

    def mlir(self, file: Path | str, *, seed: int = 0, **options: Any) -> Report:
        """Compile, run and check a file of MLIR, a function with one op; `options` as for `matmul`.

        Raises `UsageError` with several accelerators, or where the file cannot be read.
        """
        from axiloom.base.errors import UsageError

        try:
            text = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{file}: {error}") from None
        return self._checked("mlir", str(file), text, seed, options)

    def _checked(self, what: str, name: str, mlir: str, seed: int, options: Mapping[str, Any]) -> Report:
        from axiloom.base.errors import UsageError
        from axiloom.cosim.soc import refuse_run
        from axiloom.drivergen.pipeline.schedule import Schedule
        from axiloom.run.problem import ProblemRun, Workload
        from axiloom.run.run import report_of

        if len(self.specs) > 1:
            names = ", ".join(spec.name for spec in self.specs)
            raise UsageError(f"{what} runs on one accelerator, not on {names}: give `soc` one of them")
        report = report_of(ProblemRun(Workload(name, mlir, seed), self.system, Schedule(**options)))
        refuse_run(report["stale"], report.get("mistakes", []), report.get("outside", ()))
        return report


def _load(one: AcceleratorSpec | Path | str, size: int | None) -> AcceleratorSpec:
    from axiloom import isa

    if not isinstance(one, (str, Path)):
        return one
    return isa.load(one) if Path(one).suffix == ".json" else isa.builtin(str(one), size)


@pytest.fixture
def prove() -> Callable[..., list[Verdict]]:
    """Prove the formal model of a specification: ``prove("my.json")`` or ``prove("v3", size=4)``.

    As ``axiloom prove spec``, with `limit_s` seconds a claim and the same cache; returns the verdicts. Fails
    the test with a line for each claim that does not hold or is not decided; raises `SpecError` where there
    is no formal model. It needs the extra [prove], and skips the test where that is not installed.
    """

    def holds(
        spec: AcceleratorSpec | Path | str, size: int | None = None, *, limit_s: int = 60
    ) -> list[Verdict]:
        from axiloom.base.errors import BuildError
        from axiloom.prove import solvers

        try:
            solvers.check()
        except BuildError as missing:
            pytest.skip(str(missing))
        from axiloom.prove import spec as specs

        verdicts = specs.prove(_load(spec, size), limit_s)
        wrong = [
            f"{verdict.module}: {verdict.name}: {verdict.text}: {verdict.answer}"
            for verdict in verdicts
            if not verdict.good
        ]
        if wrong:
            pytest.fail("\n".join(wrong), pytrace=False)
        return verdicts

    return holds


@pytest.fixture
def soc(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Chip]:
    """Make a `Chip`: ``soc("v3", size=16)`` or ``soc("my.json", rtl=[...], top="name", board=...)``.

    The first argument is a built-in name, a specification file, or an `AcceleratorSpec`; or a list of them,
    ``soc(["v3_8", "v4_16"])``, whose DMAs and windows are then moved apart where they collide. With
    ``rtl="model"`` the specification's functional model stands in the place of RTL, in stated cycles.
    """

    def make(
        spec: AcceleratorSpec | Path | str | Sequence[AcceleratorSpec | Path | str],
        size: int | None = None,
        *,
        rtl: Sequence[Path | str] | Literal["model"] = (),
        top: str | None = None,
        **options: Any,
    ) -> Chip:
        from axiloom import isa
        from axiloom.base.errors import UsageError
        from axiloom.cosim.soc import Soc
        from axiloom.cosim.system import STALLS, System
        from axiloom.hw.rtl_files.user_rtl import UserRtl

        if isinstance(spec, (isa.AcceleratorSpec, Path, str)):
            specs = [_load(spec, size)]
        else:
            specs = isa.place([_load(one, size) for one in spec])
        options.setdefault("sim", request.config.getoption("--axiloom-sim"))
        if rtl == "model":
            options["model"] = True
            if top is not None:
                raise UsageError(f"rtl='model' has no top module: leave top={top!r} out")
        elif rtl:
            options["user_rtl"] = UserRtl([Path(file) for file in rtl], top or specs[0].name, specs[0].rtl)
            options.setdefault("stall", STALLS)
        system = System(tuple(specs), **options)
        return Chip(system, Soc(system), tmp_path)

    return make
