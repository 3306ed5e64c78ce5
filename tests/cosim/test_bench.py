"""Ordinary cocotb tests in our builds: they see time, edges and regions as on cocotb's own runner."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiloom.base.errors import BuildError, UsageError
from axiloom.cosim.bench import run_cocotb

HERE = Path(__file__).parent / "rtl_bench"
SIMULATORS = ["verilator", pytest.param("icarus", marks=pytest.mark.icarus)]


@pytest.mark.every(2)
@pytest.mark.parametrize("sim", SIMULATORS)
def test_a_test_bench_passes(sim: str) -> None:
    assert run_cocotb([HERE / "counter.v"], HERE / "counter_tests.py", top="counter", sim=sim) == 2


@pytest.mark.parametrize("sim", SIMULATORS)
def test_a_failing_test_is_named(sim: str) -> None:
    with pytest.raises(AssertionError) as error:
        run_cocotb([HERE / "counter.v"], HERE / "failing_tests.py", top="counter", sim=sim)
    assert str(error.value) == "1 of 2 cocotb tests of failing_tests failed: expects_too_much"


@pytest.mark.parametrize("sim", SIMULATORS)
def test_a_fault_in_the_verilog_is_named_with_its_line(tmp_path: Path, sim: str) -> None:
    file = tmp_path / "faulty.v"
    file.write_text("module faulty (input wire clk);\n  assign nothing = \nendmodule\n")
    with pytest.raises(BuildError) as error:
        run_cocotb([file], HERE / "counter_tests.py", top="faulty", sim=sim)
    assert "faulty.v:3" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_a_trace_is_written(tmp_path: Path) -> None:
    trace = tmp_path / "deep" / "counter.vcd"
    run_cocotb([HERE / "counter.v"], HERE / "counter_tests.py", top="counter", trace=trace)
    text = trace.read_text()
    assert "$scope module counter $end" in text
    assert text.count("\n#") > 400  # edges


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sim": "questa"}, "simulator must be 'verilator' or 'icarus', not 'questa'"),
        ({"test_module": "nowhere.py"}, "cocotb test module nowhere.py does not exist"),
    ],
)
def test_bad_arguments(options: dict[str, str], message: str) -> None:
    arguments = {"test_module": str(HERE / "counter_tests.py"), "top": "counter"} | options
    with pytest.raises(UsageError) as error:
        run_cocotb([HERE / "counter.v"], **arguments)  # type: ignore[arg-type]
    assert str(error.value) == message
