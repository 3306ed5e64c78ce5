"""Twenty landings run all slow tests once, and each of them the quick ones."""

from __future__ import annotations

import pytest
from tests.shares import SHARES, share_of

CONFTEST = """
from tests.shares import Share
def pytest_addoption(parser):
    parser.addoption("--share", type=int)
def pytest_configure(config):
    config.pluginmanager.register(Share(config.getoption("--share")))
"""
TESTS = """
import pytest
@pytest.mark.slow
@pytest.mark.parametrize("case", range(30))
def test_slow(case): assert case != 7
def test_quick(): pass
"""

pytest_plugins = ["pytester"]


def test_all_run_within_twenty_landings(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makeini("[pytest]\nmarkers = slow")
    pytester.makepyfile(test_shares_of=TESTS)
    slow = quick = failed = 0
    for landing in range(SHARES):
        result = pytester.inline_run("--share", str(landing), "-p", "no:cacheprovider")
        passed, _, wrong = result.listoutcomes()
        names = [report.nodeid for report in (*passed, *wrong)]
        quick += sum("quick" in name for name in names)
        slow += sum("slow" in name for name in names)
        failed += len(wrong)
        assert all(share_of(name) == landing for name in names if "slow" in name)
    assert (quick, slow, failed) == (SHARES, 30, 1)
