"""A driver on this machine: what is said when its library cannot be loaded, or its line goes away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from axiloom import isa
from axiloom.base.errors import DriverError
from axiloom.remote import driver as remote_driver

MAIN = """#include "axiloom.h"
int main(void) { return (int)dma_init(0x40400000, 0x16000000, 256, 0x16010000, 256); }
"""


class Gone:
    """A line whose port is no longer there."""

    def write(self, _address: int, _words: Any) -> None:
        raise OSError("no such device")

    def read(self, _address: int, _count: int) -> Any:
        raise OSError("no such device")


@pytest.mark.slow
def test_a_line_that_goes_away_is_no_fault_of_the_library(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text(MAIN)
    library = remote_driver.compile_remote([source], isa.builtin("v1_4"))
    with pytest.raises(OSError, match="no such device"):
        remote_driver.run_remote(library, Gone(), {}, {})  # type: ignore[arg-type]


def test_a_library_that_cannot_be_loaded(tmp_path: Path) -> None:
    library = tmp_path / "driver.so"
    library.write_text("no ELF")
    with pytest.raises(DriverError, match="the driver cannot be loaded: "):
        remote_driver.run_remote(library, Gone(), {}, {})  # type: ignore[arg-type]
