"""Ordinary cocotb tests on an accelerator (or on any Verilog), with our builds and their cache.

::

    def test_streams():
        run_cocotb(isa.builtin("v3", 4), Path(__file__))

Here Python drives the signals (Clock, RisingEdge, ...), at 10,000 to 150,000 cycles a second; whole
workloads belong on :class:`axiloom.cosim.soc.Soc`.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from axiloom.base import processes
from axiloom.base.errors import HangError, SimulatorError, UsageError
from axiloom.cosim.build import emitted, icarus, process, verilator
from axiloom.isa import AcceleratorSpec

if TYPE_CHECKING:
    from axiloom.hw.rtl_files.user_rtl import UserRtl

Progress = Callable[[str], None]


def run_cocotb(
    design: AcceleratorSpec | Sequence[Path | str],
    test_module: Path | str,
    *,
    top: str = "accelerator",
    sim: str = "verilator",
    user_rtl: UserRtl | None = None,
    internals: bool = False,
    trace: Path | str | None = None,
    seed: int = 0,
    timeout_s: float | None = None,
    progress: Progress | None = None,
    short: bool = False,
) -> int:
    """Build `design` and run the cocotb tests of `test_module` in it; returns how many passed.

    `design` is a specification, whose `top` is "accelerator" or "soc" (with `user_rtl` in the place
    of our accelerator), or Verilog files, whose `top` is a module. `test_module` is a Python file or
    a module that can be imported. Tests see the ports and signals of the top module, with
    `internals` those of all modules (Verilator then builds and runs slower). `trace` is a waveform
    file, .fst or .vcd (Icarus: .vcd). `short`: it runs for few cycles, and Verilator's program is built in
    the least time.

    Raises AssertionError naming the tests that failed, BuildError if the design does not build,
    SimulatorError if the simulator dies, HangError after `timeout_s`.
    """
    if isinstance(design, AcceleratorSpec):
        if top not in ("accelerator", "soc"):
            raise UsageError(f"top of a specification must be 'accelerator' or 'soc', not {top!r}")
        verilog = emitted.sources(design, top, user_rtl)
        top = f"axiloom_{top}"
    else:
        verilog = verilator.read_sources(design)
    trace = Path(trace).absolute() if trace else None
    command = _build(verilog, top, sim, internals, trace, progress, short)
    if trace:
        trace.parent.mkdir(parents=True, exist_ok=True)
        command.append(f"+axl_trace={trace}")

    module, folder = _module(test_module)
    with processes.scratch("axiloom-bench-") as work:
        results = Path(work) / "results.xml"
        env = process.environment(top, module, results, sim=sim, seed=seed, log_level="INFO")
        if folder:
            env["PYTHONPATH"] = f"{folder}:{env['PYTHONPATH']}"
        ended = process.run(command, env, Path(work), timeout_s)
        sys.stdout.write(ended.output)
        if ended.timed_out:
            raise HangError(f"the cocotb tests of {module} did not end within {timeout_s:g} s")
        if not results.exists():
            raise SimulatorError(
                f"the cocotb tests of {module} gave no results: the simulator {ended.describe()}"
            )
        return _passed(results, module)


def _build(
    verilog: verilator.Sources,
    top: str,
    sim: str,
    internals: bool,
    trace: Path | None,
    progress: Progress | None,
    short: bool = False,
) -> list[str | Path]:
    if sim == "icarus":
        return icarus.command(icarus.build(verilog, top, trace=trace is not None, progress=progress))
    if sim != "verilator":
        raise UsageError(f"simulator must be 'verilator' or 'icarus', not {sim!r}")
    modules = "*" if internals else top
    public = f'public_flat_rw -module "{modules}" -var "*"'
    design = verilator.Design(verilog, top, public, trace=trace.suffix[1:] if trace else None, short=short)
    return [verilator.build(design, progress=progress) / verilator.PROGRAM]


def _module(test_module: Path | str) -> tuple[str, Path | None]:
    """Name to import, and the folder to import it from if it is a file."""
    path = Path(test_module)
    if path.suffix != ".py":
        return str(test_module), None
    if not path.is_file():
        raise UsageError(f"cocotb test module {path} does not exist")
    return path.stem, path.absolute().parent


def _passed(results: Path, module: str) -> int:
    cases = list(ElementTree.parse(results).iter("testcase"))
    failed = [
        case.get("name", "?")
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]
    if failed:
        raise AssertionError(
            f"{len(failed)} of {len(cases)} cocotb tests of {module} failed: {', '.join(failed)}"
        )
    passed = sum(case.find("skipped") is None for case in cases)
    if not passed:
        raise AssertionError(f"{module} has no cocotb tests to run")
    return passed
