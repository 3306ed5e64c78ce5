"""What a window buffer must be told about a tile, worked out with Python's own division."""

from __future__ import annotations

from collections.abc import Mapping

Sizes = Mapping[str, int]


def skips(sizes: Sizes, at_once: int) -> bool:
    """Columns that no tap reads are not kept; `at_once`: elements that are taken in a cycle."""
    return at_once > 1 and sizes["sw"] == 2 and sizes["fw"] == 1 and sizes["iw"] % 2 == 0


def splits(sizes: Sizes, at_once: int) -> bool:
    """Even columns lie apart from odd ones."""
    return at_once > 2 and sizes["sw"] == 2 and sizes["fw"] > 1 and sizes["iw"] % 2 == 0


def tile(sizes: Sizes, at_once: int) -> dict[str, int]:
    left_out, apart = skips(sizes, at_once), splits(sizes, at_once)
    whole, rest = divmod(sizes["iw"], sizes["sw"])
    return {
        "elements": sizes["ic"] * sizes["ih"] * sizes["iw"],
        "iw": sizes["iw"],
        "sw": 1 if left_out or apart else sizes["sw"],
        "whole": whole,
        "rest": rest,
        "skips": left_out,
        "splits": apart,
        "odd": -sizes["pl"] % sizes["sw"] != 0,
    }


def walk(sizes: Sizes, cols: int, slot_bits: int, at_once: int) -> dict[str, int]:
    left_out, apart = skips(sizes, at_once), splits(sizes, at_once)
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
        **{
            name: count * (sizes["iw"] >> (left_out or apart)) % (1 << slot_bits)
            for name, count in rows.items()
        },
        "sw": sizes["sw"],
        "splits": apart,
        "whole": whole,
        "rest": rest,
        "column": column,
        "phase": 0 if left_out else phase,
        "column_step": column_step,
        "phase_step": phase_step,
    }
