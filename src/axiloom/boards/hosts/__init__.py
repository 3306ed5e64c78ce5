"""The CPUs that drivers run on, one file each (:mod:`axiloom.boards.hosts.host`).

A file more is a host more: nothing lists them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from axiloom.base.errors import UsageError
from axiloom.boards.hosts.host import Host

DEFAULT = "cortex_a9"


@cache
def every() -> Mapping[str, Host]:
    """All hosts by their names."""
    names = (module.name for module in pkgutil.iter_modules(__path__) if module.name != "host")
    hosts = [importlib.import_module(f"{__name__}.{name}").HOST for name in names]
    return MappingProxyType({host.name: host for host in hosts})


def get(name: str = DEFAULT) -> Host:
    """The host `name`. UsageError lists the ones there are."""
    if name not in every():
        raise UsageError(f"CPU {name!r} is unknown: use one of {', '.join(every())}")
    return every()[name]


def for_executable(kind: str, machine: str, bits: int, little_endian: bool) -> Host | None:
    """A host that runs such ELF files; None if there is none. Names are those of pyelftools."""
    if kind != "ET_EXEC" or not little_endian:
        return None
    wanted = (machine, bits)
    return next((h for h in every().values() if (h.executable.machine, h.bits) == wanted), None)
