"""Parts of a folder that other packages write: the device tree for Linux, the ladder, the open flow for ECP5.

Each is a function of a module that may not be there yet; what is not written is said, never left out
silently.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from axiloom import sw
from axiloom.base.errors import UsageError
from axiloom.board_folder.design.plan import Plan, identifier
from axiloom.board_folder.vivado.address_map import interrupts
from axiloom.boards import pynq
from axiloom.bringup import ladder as bring_up

LADDER = "bringup/ladder.c"
"""The ladder's program, in the runtime."""


def _function(module: str, name: str) -> Callable[..., Any] | None:
    if importlib.util.find_spec(module) is None:
        return None
    function = getattr(importlib.import_module(module), name, None)
    return function if callable(function) else None


def linux_files(plan: Plan) -> tuple[dict[str, str], list[str]]:
    """Files below ``linux/``, and a line for each that is not written."""
    files: dict[str, str] = {}
    missing: list[str] = []
    overlay = _function("axiloom.boards.device_tree", "overlay")
    if overlay is None:
        missing.append("linux/overlay.dts: this axiloom writes no device tree")
    else:
        try:
            numbers = [(entry["mm2s"]["spi"], entry["s2mm"]["spi"]) for entry in interrupts(plan)]
            files["linux/overlay.dts"] = overlay(
                plan.specs, soc=plan.hardware.family, coherent=plan.coherent, interrupts=numbers
            )
        except UsageError as refused:  # windows of one's own may lie where Linux has its programs
            missing.append(f"linux/overlay.dts: {refused}")
    return files, missing


def ladder_files(plan: Plan) -> tuple[dict[str, str], list[str]]:
    """The bring-up ladder: its program, and its configuration and drivers for the accelerator."""
    if len(plan.specs) > 1:
        return {}, ["sw/bringup/: the ladder is of one accelerator"]
    if plan.loops is not None:
        return {}, ["sw/bringup/: the ladder is of an accelerator with an opcode map"]
    try:
        texts = bring_up.sources(plan.specs[0].parts[0])
    except UsageError as refused:
        return {}, [f"sw/bringup/: {refused}"]
    program = (sw.ROOT / LADDER).read_text(encoding="utf-8")
    return {
        f"sw/runtime/{LADDER}": program,
        **{f"sw/bringup/{name}": text for name, text in texts.items()},
    }, []


def python_files(plan: Plan) -> tuple[dict[str, str], list[str]]:
    """The class for the PYNQ image, a module for each accelerator below ``python/``."""
    files: dict[str, str] = {}
    missing: list[str] = []
    for link in plan.specs:
        name = "accelerator" if len(plan.specs) == 1 else identifier(link.name)
        try:
            files[f"python/{name}.py"] = pynq.module(link)
        except UsageError as refused:
            missing.append(f"python/{name}.py: {refused}")
    return files, missing


def open_flow_files(plan: Plan) -> tuple[dict[str, str], list[str]]:
    """Files below ``openflow/`` for a board with an ECP5, and a line if they are not written."""
    board_files = _function("axiloom.board_folder.open_flow", "board_files")
    if board_files is None:
        return {}, ["openflow/: this axiloom has no open flow for ECP5"]
    return dict(board_files(plan.specs[0], board=plan.hardware.name, user_rtl=plan.user_rtl)), []
