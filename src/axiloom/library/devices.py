"""Accelerators and boards as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from axiloom import boards
from axiloom.base.errors import UsageError
from axiloom.device.rtl import DEFAULT_LANES
from axiloom.explore.asked import MODEL, MOST, Asked
from axiloom.hw.rtl_files.packaged import ENDING as PACKAGED
from axiloom.hw.rtl_files.packaged import packaged
from axiloom.isa import AcceleratorSpec
from axiloom.isa.instructions.library import INSTRUCTIONS, targets
from axiloom.library.accelerators import WIDTH, Device, TextDevice
from axiloom.library.draft import draft

Source: TypeAlias = str | Path | AcceleratorSpec
CPU = "cpu"
"""Beside an instruction set: what it does not take."""


def device(
    source: Source,
    *,
    rtl: Sequence[str | Path] | str | Path = (),
    top: str | None = None,
    size: int | None = None,
    encoding: str | None = None,
    post: bool = False,
    stream_width: int | None = None,
    macs: int | str | None = None,
    dma: str | None = None,
    memory_port: str | None = None,
    defines: Mapping[str, int] | None = None,
    lanes: int | None = None,
    product_rows: int | None = None,
) -> Device:
    """An accelerator: a built-in one by its name (``v3_16``), a specification by its file
    (``mine.json``) or as a value, an instruction set with meaning (``rows32.isa``), a packaged core
    (``component.xml`` of IP-XACT), whose specification is drafted from its ports (`Device.notes`).

    `rtl`: Verilog or VHDL in its place, with the module `top`, called as the first file by default, or a
    ``component.xml``; ``"model"``: the functional model, before there is RTL. `size` (of a tile), `encoding`
    (of opcodes) and `post` are of built-in ones; `stream_width` in bits, `macs` multiply-adds a cycle, `dma`
    ``simple`` or ``sg``, `memory_port` ``plain`` or ``coherent``. Of an instruction set with meaning are
    `defines` (constants of its text), `lanes` (elements at once) and `product_rows` (of a product at once).
    Specifications are read when they are needed: `Device.faults` says what is wrong with a file.

    Raises UsageError for words that go with no accelerator.
    """
    own_hardware = {"rtl": rtl, "top": top, "size": size, "encoding": encoding, "post": post}
    own_hardware |= {"macs": macs, "dma": dma, "memory_port": memory_port}
    of_text = {"defines": defines, "lanes": lanes, "product_rows": product_rows}
    if not isinstance(source, AcceleratorSpec) and _is_text(str(source)):
        others = ", ".join(name for name, value in own_hardware.items() if value)
        _check((others, others, f"is not of {source}: its hardware is made of its text"))
        return _text(str(source), stream_width, defines or {}, lanes, product_rows)
    others = ", ".join(name for name, value in of_text.items() if value)
    _check((others, others, "is of instruction sets with meaning: FILE.isa, or a built-in one"))
    accel, file, own = None, None, None
    notes: tuple[str, ...] = ()
    if not isinstance(source, AcceleratorSpec) and str(source).endswith(PACKAGED):
        _check(("rtl", rtl, f"is in {source} already"))
        rtl, core = packaged(Path(source))
        own, said = draft(rtl, top or core, None, None, None)
        top, notes = top or core, tuple(said)
    elif isinstance(source, AcceleratorSpec):
        own = source
    elif str(source).endswith(".json"):
        file = Path(source)
    elif Path(source).suffix:
        raise UsageError(
            f"ax.device({str(source)!r}): accepted are built-in names, FILE.json, FILE.isa, "
            "component.xml, specifications"
        )
    else:
        accel = str(source)
    files = tuple(Path(path) for path in ([rtl] if isinstance(rtl, (str, Path)) else rtl))
    _check(
        (
            "size, encoding, post",
            accel is None and (size or encoding or post),
            "are of built-in accelerators",
        ),
        ("top", top and not files, "names a module of `rtl`: give the files, too"),
        ("macs", macs and files and MODEL not in files, "sizes a generated array: `rtl` has its own"),
        ("macs", isinstance(macs, str) and macs != MOST, f"is a number, or {MOST!r}"),
        ("dma", dma not in (None, "simple", "sg"), "is 'simple' or 'sg'"),
    )
    if top is None and files and MODEL not in files and files[0].suffix != PACKAGED:
        top = files[0].stem
    asked = Asked(
        accel, size, file, encoding, post, files, top, stream_width, macs, dma, memory_port, own=own
    )  # fmt: skip
    return Device(source.name if isinstance(source, AcceleratorSpec) else str(source), asked, notes)


def _is_text(source: str) -> bool:
    return source.endswith(INSTRUCTIONS) or source in targets()


def _text(
    source: str,
    stream_width: int | None,
    defines: Mapping[str, int],
    lanes: int | None,
    product_rows: int | None,
) -> Device:
    return TextDevice(
        source,
        Asked(),
        constants=dict(defines),
        lanes=DEFAULT_LANES if lanes is None else lanes,
        product_rows=product_rows or 1,
        stream_width=stream_width or WIDTH,
    )


def _check(*refusals: tuple[str, object, str]) -> None:
    for name, wrong, why in refusals:
        if wrong:
            raise UsageError(f"ax.device: `{name}` {why}")


def board(name: str | Path = boards.DEFAULT) -> boards.Board:
    """The profile of a board by its name, or from a file of TOML: clocks, caches, latencies, and their
    source."""
    return boards.load(str(name))


def together(on: Device | Source | Sequence[Device | Source] | None, board_name: str) -> Asked:
    """What `on` asks for, of one accelerator or several."""
    if on is None:
        return Asked(board=board_name)
    if isinstance(on, (Device, str, Path, AcceleratorSpec)):
        return replace((on if isinstance(on, Device) else device(on)).hardware, board=board_name)
    devices = [item if isinstance(item, Device) else device(item) for item in on]
    if not devices:
        raise UsageError("on=[]: no accelerator; leave `on` out, and one is chosen")
    if len(devices) == 1:
        return replace(devices[0].hardware, board=board_name)
    asked = [item.hardware for item in devices]
    first = replace(asked[0], accel=None)
    if any(item.accel is None or replace(item, accel=None) != first for item in asked):
        raise UsageError(
            "on=[...]: of several accelerators each is a built-in one, all with the same options"
        )
    return replace(first, accel=",".join(str(item.accel) for item in asked), board=board_name)


def of_text(on: Device | Source | Sequence[Device | Source] | None) -> TextDevice | None:
    """The instruction set with meaning in `on`, if there is one. Raises UsageError for others beside it."""
    if on is None or isinstance(on, AcceleratorSpec):
        return None
    items = [on] if isinstance(on, (Device, str, Path)) else list(on)
    devices = [item if isinstance(item, Device) else device(item) for item in items if item != CPU]
    texts = [item for item in devices if isinstance(item, TextDevice)]
    if texts and len(devices) > 1:
        raise UsageError(f"on=[...]: {texts[0].source} is alone, or beside {CPU!r}")
    return texts[0] if texts else None
