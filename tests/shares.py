"""The slow tests in twenty shares: `.ci/run` takes the share of its landing, so twenty landings run them all.

A test's share is a hash of its name: a new test changes no other's share, and neighbours, which share
builds but fail together, are spread over the landings.
"""

from __future__ import annotations

import zlib
from collections import Counter

import pytest

SHARES = 20


def share_of(nodeid: str) -> int:
    """From 0 to ``SHARES - 1``."""
    return zlib.crc32(nodeid.encode()) % SHARES


class Share:
    """Leaves out the slow tests of other shares, and tells which slow tests ran."""

    def __init__(self, landing: int) -> None:
        self.share = landing % SHARES
        self.ran: Counter[str] = Counter()

    @pytest.hookimpl(trylast=True)  # after all marks are set
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        left_out = [
            item
            for item in items
            if item.get_closest_marker("slow") is not None and share_of(item.nodeid) != self.share
        ]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and "slow" in report.keywords:
            self.ran[report.nodeid.partition("::")[0]] += 1

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section(f"slow tests: share {self.share} of {SHARES}, {self.ran.total()} ran")
        terminalreporter.line(", ".join(f"{path} {count}" for path, count in sorted(self.ran.items())))
