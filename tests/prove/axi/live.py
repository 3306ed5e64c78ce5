"""Liveness of our modules and of the examples' devices: ``python -m tests.prove.axi.live [NAME ...]``.

A line a module: how many properties of what is owed hold, and seconds of CPU, all programs together.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from axiloom.prove.axi import ours

EXAMPLES = Path(__file__).parents[3] / "examples"
DEVICES = {
    "add": ("elementwise/add.v",),
    "maxpool": ("pooling/maxpool.v",),
    "rowmul": ("verilog_accelerator/rowmul.v",),
    "gain16": ("hardware/gain16/gain16.v",),
    "fir16": ("hardware/fir16/fir16.v",),
    "vadd": ("hardware/vadd_m_axi/vadd.v",),
    "matmul_start": ("hardware/start_matmul/matmul_start.v",),
    "add_blocks": ("hardware/add_vhdl/add_blocks.vhd",),
    "matmul_stream": ("hardware/stream_matmul/matmul_stream.sv", "hardware/stream_matmul/multiply.sv"),
    "multiply_pairs": ("hardware/two_streams/multiply_pairs.v",),
}
"""Top to its files."""
CLOCKS = {"matmul_stream": ["--clock", "S_AXIS_ACLK", "--clock", "M_AXIS_ACLK"]}
"""Of tops with a clock a port, which are one."""
RTL = Path(__file__).parent / "rtl"
SAID = {
    "vadd": ["--outstanding", "1", "--rule", "*_outstanding", "--rule", "w_early"],
    "matmul_start": [
        *("--fair", str(RTL / "matmul_start_fair.v")),
        *("--assume", str(RTL / "matmul_start_small.txt")),
    ],
}
"""Of tops whose host starts them, and of those with a few bursts under way, which is proved too."""


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def prove(name: str) -> tuple[int, str, list[dict[str, object]]]:
    """Exit code, what was said, verdicts."""
    what = [name]
    if name in DEVICES:
        what = ["--top", name]
        for file in DEVICES[name]:
            what += ["--rtl", str(EXAMPLES / file)]
        what += CLOCKS.get(name, []) + SAID.get(name, [])
    with tempfile.TemporaryDirectory() as folder:
        verdicts = Path(folder) / "verdicts.json"
        command = [sys.executable, "-W", "ignore", "-m", "axiloom", "prove", "axi", *what, "--live"]
        command += ["--rule", "*_live", "--json", str(verdicts), "--replay", folder]
        ran = subprocess.run(command, capture_output=True, text=True)
        read = json.loads(verdicts.read_text())["verdicts"] if verdicts.exists() else []
    return ran.returncode, ran.stdout + ran.stderr, read


def main(names: list[str]) -> int:
    warnings.simplefilter("ignore")  # benches are made to be looked at
    targets = {name: target.bench(live=True) for name, target in ours.TARGETS.items()}
    ours_live = [name for name, bench in targets.items() if any(p.live and p.port for p in bench.properties)]
    asked = names or [*ours_live, *DEVICES]
    bad, begun, before = 0, time.perf_counter(), _cpu()
    for name in asked:
        since = _cpu()
        code, said, verdicts = prove(name)
        owed = [one for one in verdicts if str(one["name"]).endswith("_live")]
        held = sum(bool(one["good"] and one["certified"]) for one in owed)
        bad += code != 0
        print(f"{name:<16} {held} of {len(owed)} hold, certified; {_cpu() - since:.0f} s of CPU", flush=True)
        for one in owed:
            if not one["good"]:
                print(f"  {one['port']}.{one['name']}: {one['answer']}", flush=True)
        if not owed:
            print("  " + (said.splitlines() or [""])[-1], flush=True)
    took = time.perf_counter() - begun
    print(f"{len(asked)} modules, {bad} not; {took:.0f} s, {_cpu() - before:.0f} s of CPU")
    return bad


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
