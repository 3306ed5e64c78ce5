"""Prints the CPU seconds of each room of tests, of its processes and compilers too, behind the slowest tests.

A clock depends on what else runs; CPU seconds nearly not. So they say which room, and which test, to quicken.
"""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Generator

import pytest

PROPERTY = "cpu_seconds"
_DEPTH = 2
"""Parts of a path that name a room: ``tests/hw``."""

_SHOWN = 40
"""Of the most expensive tests."""

_began = pytest.StashKey[float]()


def used() -> float:
    """User and system seconds of this process and of its children that have ended."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


class CpuSeconds:
    """Measures where tests run, which may be a worker, and adds up where their reports arrive."""

    def __init__(self) -> None:
        self.rooms: Counter[str] = Counter()
        self.tests: Counter[str] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        item.stash[_began] = used()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "teardown" and _began in item.stash:
            report.user_properties.append((PROPERTY, used() - item.stash[_began]))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        room = "/".join(report.nodeid.partition("::")[0].split("/")[:_DEPTH])
        seconds = sum(value for name, value in report.user_properties if name == PROPERTY)
        self.rooms[room] += seconds
        self.tests[report.nodeid] += seconds

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not terminalreporter.config.option.durations:
            return
        terminalreporter.section("CPU seconds by room, without collection")
        for room, seconds in self.rooms.most_common():
            terminalreporter.line(f"{seconds:8.1f} {room}")
        terminalreporter.line(f"{self.rooms.total():8.1f} in all")
        terminalreporter.section("the most CPU seconds")
        for nodeid, seconds in self.tests.most_common(_SHOWN):
            terminalreporter.line(f"{seconds:8.1f} {nodeid}")
