"""What a window buffer must be told about a tile, worked out with Python's own division."""

from __future__ import annotations

from collections.abc import Mapping

Sizes = Mapping[str, int]


def tile(sizes: Sizes) -> dict[str, int]:
    whole, rest = divmod(sizes["iw"], sizes["sw"])
    elements = sizes["ic"] * sizes["ih"] * sizes["iw"]
    return {"elements": elements, "iw": sizes["iw"], "sw": sizes["sw"], "whole": whole, "rest": rest}


def walk(sizes: Sizes, cols: int, slot_bits: int) -> dict[str, int]:
    column, phase = divmod(-sizes["pl"], sizes["sw"])
    column_step, phase_step = divmod(sizes["dw"], sizes["sw"])
    whole, rest = divmod(sizes["iw"], sizes["sw"])
    rows = {
        "base": -sizes["pt"],
        "row_step": sizes["sh"],
        "tap_step": sizes["dh"],
        "channel_step": sizes["ih"],
    }
    return {
        "last_c": sizes["ic"] - 1,
        "last_fh": sizes["fh"] - 1,
        "last_fw": sizes["fw"] - 1,
        "last_block": (sizes["ow"] - 1) // cols,
        "ih": sizes["ih"],
        "y": -sizes["pt"],
        "sh": sizes["sh"],
        "dh": sizes["dh"],
        **{name: count * sizes["iw"] % (1 << slot_bits) for name, count in rows.items()},
        "sw": sizes["sw"],
        "whole": whole,
        "rest": rest,
        "column": column,
        "phase": phase,
        "column_step": column_step,
        "phase_step": phase_step,
    }
