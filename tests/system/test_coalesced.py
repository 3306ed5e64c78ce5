"""Coalesced drivers on the RTL: the same result as NumPy's, with fewer transfers."""

from __future__ import annotations

import pytest

from axiloom import isa
from axiloom.drivergen import matmul_mlir
from axiloom.run.problem import Run, run_batch


@pytest.mark.parametrize("name", ["v3_4", "v4_16"])
def test_equal_to_numpy_with_fewer_transfers(name: str) -> None:
    M, N, K = 44, 37, 50
    runs = [
        Run(f"matmul:{M}x{N}x{K}", matmul_mlir(M, N, K), isa.builtin(name), flow="Cs", pipeline=pipeline)
        for pipeline in ("published", "coalesced")
    ]
    published, coalesced = run_batch(runs)
    for report in (published, coalesced):
        assert report["result"]["matches"], report["result"]["first"]
        assert report["stale"] == []
    assert coalesced["config"]["pipeline"] == "coalesced"
    assert coalesced["fabric"]["words_in"] == published["fabric"]["words_in"]
    assert coalesced["fabric"]["transfers_in"] < published["fabric"]["transfers_in"]
    assert coalesced["fabric"]["transfers_out"] == published["fabric"]["transfers_out"]
