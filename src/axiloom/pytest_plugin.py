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

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:  # pytest loads this plugin in every project of the environment: import nothing heavy
    from axiloom.isa import AcceleratorSpec
    from axiloom.library.sessions import Chip
    from axiloom.prove.verdict import Verdict


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("axiloom").addoption(
        "--axiloom-sim",
        choices=("verilator", "icarus"),
        default="verilator",
        help="simulator of the soc fixture (default: %(default)s)",
    )


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
        from axiloom.library.devices import device
        from axiloom.prove import solvers

        try:
            solvers.check()
        except BuildError as missing:
            pytest.skip(str(missing))
        from axiloom.prove import spec as specs

        verdicts = specs.prove(device(spec, size=size).spec, limit_s)
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
    """Make a `Chip`, as :func:`axiloom.soc` does: ``soc("v3", size=16)``, ``soc("my.json", rtl=[...],
    top="name")``.

    Without ``top`` the module is called as the accelerator.
    """

    def make(
        spec: Any, size: int | None = None, *, rtl: Any = (), top: str | None = None, **options: Any
    ) -> Chip:
        from axiloom.library.devices import device
        from axiloom.library.sessions import soc as session

        options.setdefault("sim", request.config.getoption("--axiloom-sim"))
        if rtl and rtl != "model" and top is None:
            top = device(spec, size=size).name
        return session(spec, folder=tmp_path, size=size, rtl=rtl, top=top, **options)

    return make
