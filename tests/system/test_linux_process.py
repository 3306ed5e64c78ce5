"""The driver as a Linux process: its result and the accelerator's cycles are those of bare metal."""

from __future__ import annotations

import pytest

from axiloom import isa, linux_process
from axiloom.isa import AcceleratorSpec

CASES = [("matmul:48x32x32", isa.builtin("v3", 16), "Cs"), ("conv:8_8_3_4_1", isa.builtin("conv_v3"), None)]


@pytest.mark.slow  # musl is built at first use
@pytest.mark.parametrize(("problem", "spec", "flow"), CASES, ids=["v3_16", "conv_v3"])
def test_process_equals_bare_metal(problem: str, spec: AcceleratorSpec, flow: str | None) -> None:
    bare_flat, process_flat, bare, process, wide = linux_process.lines(problem, spec, flow)
    assert all(one.right for one in (bare_flat, process_flat, bare, process, wide))
    assert process_flat.cycles == bare_flat.cycles > 0
    assert process_flat.fabric["polls"] == bare_flat.fabric["polls"]
    assert process.cycles == pytest.approx(bare.cycles, rel=0.02)
    assert process.work == bare.work == wide.work
    assert bare.system_calls == 0 < process.system_calls
