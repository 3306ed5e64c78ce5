"""How much of proving is certifying: ``python -m tests.prove.axi.certified [MODULE ...]``.

A line a module of ours: verdicts without a bound, how many of them are certified, and the CPU seconds of
engines (with Yosys) and of the solver that checks them. No answer is taken from a cache.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

from axiloom.prove import abc, certify
from axiloom.prove.axi import ours

MORE = 0.2
"""That certifying may add, as a part of all else."""


def _timed(check: Callable[..., bool], spent: list[float]) -> Callable[..., bool]:
    def timed(*asked: Any) -> bool:
        begun = time.thread_time()
        try:
            return check(*asked)
        finally:
            spent.append(time.thread_time() - begun)

    return timed


def main(names: list[str]) -> int:
    warnings.simplefilter("ignore")  # benches are made to be looked at
    spent: list[float] = []
    for name in ("invariant", "induction"):
        setattr(certify, name, _timed(getattr(certify, name), spent))
    proofs = certified = 0
    begun = sum(os.times()[:4])
    for module in names or ours.TARGETS:
        since, before = sum(os.times()[:4]), sum(spent)
        verdicts = [verdict for verdict, _ in abc.prove(module, ours.TARGETS[module].bench())]
        unbounded = [verdict for verdict in verdicts if verdict.proof]
        whole, checks = sum(os.times()[:4]) - since, sum(spent) - before
        said = sum(bool(verdict.certified) for verdict in unbounded)
        print(
            f"{module:<20} {said} of {len(unbounded)} certified; "
            f"{whole - checks:.1f} s CPU, certifying {checks:.1f} s",
            flush=True,
        )
        proofs, certified = proofs + len(unbounded), certified + said
    rest = sum(os.times()[:4]) - begun - sum(spent)
    print(f"{certified} of {proofs} certified, {sum(spent) / rest:.0%} more time ({sum(spent):.0f} s CPU)")
    return certified != proofs or sum(spent) > MORE * rest


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AXILOOM_CACHE"] = folder
        sys.exit(int(main(sys.argv[1:])))
