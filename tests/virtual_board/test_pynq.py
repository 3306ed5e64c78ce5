"""PYNQ 4.0 as it is installed, against the server: its own self-test, and scripts of the kinds that people
write.

AXILOOM_PYNQ: the Python of an environment with `pip install pynq==4.0.0`, which cannot be ours: it wants
NumPy 1.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from axiloom.virtual_board import handoff

pytest.importorskip("grpc", reason="gRPC is the extra [pynq]")
PYNQ = os.environ.get("AXILOOM_PYNQ", "")
pytestmark = [
    pytest.mark.skipif(not PYNQ, reason="AXILOOM_PYNQ names no Python with pynq 4.0.0"),
    pytest.mark.slow,
]
HERE = Path(__file__).parent
RTL, SCRIPTS, HARDWARE = HERE / "rtl", HERE / "scripts", HERE.parents[1] / "examples" / "hardware"
_HOSTS = itertools.count(2)  # PYNQ knows one port: each server has an address of its own


def rtl(file: Path) -> list[str]:
    return ["--rtl", str(file), "--top", file.stem]


FIFO = [*rtl(RTL / "fifo.v"), "--ip", "leds_gpio=axi_gpio,all_outputs=1"]
FIR = rtl(HARDWARE / "fir16" / "fir16.v")
DESIGNS = {
    "loop": FIFO,
    "leds": FIFO,
    "registers": FIFO,
    "fir": FIR,
    "driver": [*FIR, "--rename", "axi_dma_0=filter/dma", "--rename", "fir16_0=filter/taps"],
    "matmul": rtl(HARDWARE / "start_matmul" / "matmul_start.v"),
    "network": [*rtl(RTL / "dense.v"), "--rename", "axi_dma_0=hier_0/axi_dma_0"],
    "vadd": rtl(HARDWARE / "vadd_m_axi" / "vadd.v"),
    "several": ["--accel", "v1_4,v1_8"],
    "mpsoc": [*FIR, "--ip", "leds_gpio=axi_gpio,all_outputs=1", "--board", "zcu104"],
    "two_dmas": [*rtl(RTL / "fifo.v"), "--hwh", str(SCRIPTS / "streams.hwh")],
}


@contextmanager
def served(folder: Path, words: list[str]) -> Iterator[str]:
    """A server's host; its files lie in `folder`."""
    host = f"127.0.0.{next(_HOSTS)}"
    command = [
        sys.executable,
        "-m",
        "axiloom",
        "serve",
        "--pynq",
        "--sim",
        "icarus",
        "--keep",
        ".",
        "--address",
        host,
    ]
    with (folder / "server.txt").open("w") as log:
        server = subprocess.Popen([*command, *words], cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    try:
        while "listens at" not in (folder / "server.txt").read_text():
            assert server.poll() is None, (folder / "server.txt").read_text()
            time.sleep(0.2)
        yield host
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 128 + signal.SIGINT


def pynq(folder: Path, host: str, *words: str) -> str:
    env = {**os.environ, "PYNQ_REMOTE_DEVICES": host, "PYTHONPATH": ""}
    done = subprocess.run(
        [PYNQ, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr + (folder / "server.txt").read_text()
    return done.stdout


@pytest.mark.parametrize("name", DESIGNS)
def test_a_script_gives_the_right_arrays(tmp_path: Path, name: str) -> None:
    if name == "two_dmas":  # somebody's own
        (tmp_path / "streams.bit").write_bytes(handoff.bit("streams", b"SOMEBODY" * 8, "7z020clg400"))
    with served(tmp_path, DESIGNS[name]) as host:
        assert pynq(tmp_path, host, str(SCRIPTS / f"{name}.py")).splitlines()[-1] == "right"


@pytest.mark.parametrize("design", ["", "fifo.bit", "xsa/fifo.xsa"])
def test_pynq_s_own_self_test_passes(tmp_path: Path, design: str) -> None:
    with served(tmp_path, FIFO) as host:
        more = ["--bitstream", design] if design else []
        said = pynq(tmp_path, host, "-m", "pynq.remote.selftest", "--ip", host, *more)
    assert f"{11 if design else 9} passed, 0 failed, {0 if design else 1} skipped" in said
