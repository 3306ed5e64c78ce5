"""The CPU seconds of rooms: what a test and its processes use counts, on a worker too."""

from __future__ import annotations

import re

import pytest

pytest_plugins = ["pytester"]

TEST = """
import subprocess, sys, time

def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

def test_here():
    spin(0.2)

def test_in_a_child():
    code = "import time\\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", code], check=True)
"""
CONFTEST = """
from tests.cpu_seconds import CpuSeconds

def pytest_configure(config):
    config.pluginmanager.register(CpuSeconds())
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_test_and_its_children_are_added_up(
    pytester: pytest.Pytester, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(request.config.rootpath))
    pytester.makeconftest(CONFTEST)
    for room in ("one", "two"):
        folder = pytester.mkdir(room)
        (folder / f"test_{room}.py").write_text(TEST, encoding="utf-8")
    done = pytester.runpytest_subprocess("-n", workers, "--durations=3", "--import-mode=importlib")
    done.assert_outcomes(passed=4)
    lines = re.findall(r"^ *([\d.]+) (\S+/test_\w+\.py|in all)$", done.stdout.str(), re.MULTILINE)
    seconds = {name: float(value) for value, name in lines}
    assert seconds["one/test_one.py"] >= 0.4  # of 0.5: the clock has a grain
    assert seconds["two/test_two.py"] >= 0.4
    assert seconds["in all"] >= 0.9
    tests = re.findall(r"^ *([\d.]+) \S+::(test_\w+)$", done.stdout.str(), re.MULTILINE)
    assert [name for _, name in tests] == ["test_in_a_child"] * 2 + ["test_here"] * 2
    assert float(tests[-1][0]) >= 0.2
