"""The registry of hosts: each is whole, in Python, in C and in the core, and nothing else lists them."""

from __future__ import annotations

import ctypes
import importlib
from dataclasses import asdict, replace

import pytest

from axiloom import boards
from axiloom.base.errors import UsageError
from axiloom.boards import Region, hosts
from axiloom.boards.checks import check
from axiloom.boards.hosts.host import Host
from axiloom.cosim import native
from axiloom.cosim.core import library

EVERY = pytest.mark.parametrize("host", hosts.every().values(), ids=lambda host: host.name)


def test_hosts_are_found_by_their_files() -> None:
    assert {"cortex_a9", "cortex_a53"} <= hosts.every().keys()
    assert hosts.get().name == hosts.DEFAULT == "cortex_a9"
    with pytest.raises(UsageError, match=r"CPU 'm68k' is unknown: use one of .*cortex_a9"):
        hosts.get("m68k")


@EVERY
def test_each_is_whole(host: Host) -> None:
    """Its name is its file's; what it is linked with is there; programs for it are known by their headers."""
    assert hosts.every()[host.name] is host
    assert importlib.import_module(f"axiloom.boards.hosts.{host.name}").HOST is host
    assert all(path.is_file() for path in (*host.bare.sources, host.bare.strings, host.bare.script))
    assert all(path.is_dir() for path in host.bare.include)
    assert "loops" in host.kernels
    found = hosts.for_executable("ET_EXEC", host.executable.machine, host.bits, True)
    assert found is not None
    assert found.architecture == host.architecture
    for wrong in (("ET_DYN", host.executable.machine, host.bits, True), ("ET_EXEC", "EM_X86_64", 64, True)):
        assert hosts.for_executable(*wrong) is None


@EVERY
def test_each_has_a_board_and_a_core(host: Host) -> None:
    profiles = [board for board in map(boards.load, boards.names()) if board.cpu == host.name]
    assert profiles
    core = native.bind(library())
    made = native.config(profiles[0], [], 0)
    assert core.axl_configure(ctypes.byref(made)) == 0, core.axl_error()


def test_the_core_says_which_hosts_it_has() -> None:
    core = native.bind(library())
    made = native.config(boards.load(boards.DEFAULT), [], 0)
    made.host = b"m68k"
    assert core.axl_configure(ctypes.byref(made)) == -1
    assert core.axl_error().startswith(b"there is no host 'm68k' in this core; it has cortex_a53, cortex_a9")
    assert core.axl_cpu_start(0, 0, 0, 0, 0) == -1
    assert core.axl_error() == b"axl_cpu_start: call axl_configure first"


def test_what_a_host_is_not_able_to_is_refused() -> None:
    bare = replace(hosts.get(), title="A plain core", linux=None, kernels=("loops",))
    bare.check_kernel("loops")
    with pytest.raises(UsageError, match=r"^NEON kernels do not run on A plain core \(armv7\): compare with"):
        bare.check_kernel("neon")
    with pytest.raises(UsageError, match=r"^no Linux programs run on A plain core \(armv7\): it is for bare"):
        bare.check_linux()


def test_a_cpu_with_tables_needs_no_regions() -> None:
    board = replace(boards.load(boards.DEFAULT), uncached_memory=(Region(0, 1 << 20),))
    with pytest.raises(
        UsageError, match=r"^mine: uncached_memory: programs on Cortex-A9 \(armv7\) say so themselves"
    ):
        check(asdict(board), "mine")
