"""Faults of specifications of convolutions, of bits and of post-processing, word for word."""

# ruff: noqa: E501 - messages stand whole, so that they can be searched for

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.isa.edits import Body, both, faults_of, put, swap

from axiloom import isa
from axiloom.isa.check.check import check_tile


@pytest.mark.parametrize(
    ("name", "post", "edit", "faults"),
    [
        (
            "conv_v4",
            False,
            put("data", "I", ["ic", "iw", "ih"]),
            ["data.I: ic, iw, ih are not its dims, which are ic, ih, iw, in this order"],
        ),
        (
            "conv_v4",
            False,
            put("accel_size", [16, 8, 8, 64, 32, 3]),
            [
                "accel_size: fh = 32 is above 31, the most that a device holds",
                "opcode_map.cfg[1]: size 32 of dim fh overflows its field of 5 bits from bit 0; at most 31",
                "accel_size: a 64x39x10 tile of I (int32) needs 24960 words; its buffer holds 16384",
                "accel_size: a 16x64x32x3 tile of F (int32) needs 98304 words; its buffer holds 16384",
                "dma_config.inputBufferSize: 262144 bytes are too few: `sF` sends 393224 at once",
            ],
        ),
        (
            "conv_v4",
            False,
            put("accel_size", [16, 8, 8, 2048, 1, 1]),
            [
                "accel_size: ic = 2048 is above 2047, the most that a device holds",
                "opcode_map.sI[1]: size 2048 of dim ic overflows its field of 11 bits from bit 0; at most 2047",
                "accel_size: a 2048x8x8 tile of I (int32) needs 131072 words; its buffer holds 16384",
                "accel_size: a 16x2048x1x1 tile of F (int32) needs 32768 words; its buffer holds 16384",
                "dma_config.inputBufferSize: 262144 bytes are too few: `sI` sends 524300 at once",
            ],
        ),
        (
            "conv_v3",
            False,
            put("accel_size", [2, 1, 1, 64, 3, 3]),
            ["accel_size: size 2 of dim oc must be 1: the device takes one window at a time"],
        ),
        (
            "conv_v3",
            False,
            put("accel_size", [1, 1, 1, 64, 3, 2]),
            ["accel_size: size 2 of dim fw must be the 3 of fh: no word sets fw"],
        ),
        (
            "conv_v3",
            False,
            put("accel_size", [1, 1, 1, 513, 7, 7]),
            [
                "accel_size: a 513x7x7 tile of I (int32) has 25137 words; its buffer holds 25088",
                "accel_size: a 1x513x7x7 tile of F (int32) has 25137 words; its buffer holds 25088",
            ],
        ),
        (
            "conv_v4",
            False,
            swap("opcode_map", "send_dim(oh | ow << 11)", "send_dim(oh)"),
            ["device: the tile is flexible (tile.granule), but no opcode sets ow"],
        ),
        (
            "conv_v4",
            False,
            swap("opcode_map", "send_dim(ic | ih << 11 | iw << 21)", "send_dim(ic | ih << 11)"),
            ["device: the tile is flexible (tile.granule), but no opcode sets iw"],
        ),
        (
            "conv_v4",
            False,
            swap("opcode_map", "pt | pl << 8", "pt | zp << 8"),
            [
                "opcode_map.sI[2]: send_dim(pt | zp << 8): setting zp belongs to post-processing; give `post`: true"
            ],
        ),
        (
            "conv_v4",
            False,
            swap("opcode_map", "send(I)", "send(P)"),
            ["opcode_map.sI[3]: send(P): operand P belongs to post-processing; give `post`: true"],
        ),
        (
            "conv_v4",
            False,
            put("device", "rO", ["requantise O", "clear O"]),
            ["device.rO[0]: requantise O: requantise belongs to post-processing; give `post`: true"],
        ),
        (
            "conv_v4",
            False,
            put("device", "cO", ["set dims", "compute", "save"]),
            ["device.cO[2]: save: only a device that takes one window at a time, I (ic, fh, fw), can save"],
        ),
        (
            "conv_v4",
            False,
            put("device", "cO", ["set dims", "compute", "load P"]),
            ["device.cO[2]: load P: operand P belongs to post-processing; give `post`: true"],
        ),
        (
            "conv_v4",
            False,
            put("post", True),
            [
                "post: no opcode does `load P`, so post-processing cannot be used",
                "post: no opcode does `requantise O`, so post-processing cannot be used",
                "buffers: the buffer of operand `P` is missing",
            ],
        ),
        (
            "conv_v4",
            True,
            lambda b: b.pop("post"),
            [
                "opcode_map.sP[2]: send(P): operand P belongs to post-processing; give `post`: true",
                "opcode_map.cfgP[1]: send_dim(zp | lo << 8 | hi << 16): setting zp belongs to post-processing; give `post`: true",
                "opcode_map.cfgP[1]: send_dim(zp | lo << 8 | hi << 16): setting lo belongs to post-processing; give `post`: true",
                "opcode_map.cfgP[1]: send_dim(zp | lo << 8 | hi << 16): setting hi belongs to post-processing; give `post`: true",
                "device.qO[0]: requantise O: requantise belongs to post-processing; give `post`: true",
                "buffers.P: unknown operand `P`; they are I, F, O",
            ],
        ),
        (
            "conv_v4",
            True,
            put("opcode_flow_map", "Fsq", "(sP sF ((sI cO qO)))"),
            ["opcode_flow_map.Fsq: (sP sF ((sI cO qO))) computes a wrong O under every order of the loops"],
        ),
        (
            "conv_v4",
            True,
            put("opcode_flow_map", "X", "((sP sI sF cO) qO rO)"),
            ["opcode_flow_map.X: ((sP sI sF cO) qO rO) computes a wrong O under every order of the loops"],
        ),
        (
            "conv_v4",
            True,
            swap("opcode_map", "zp | lo << 8", "zp | lo << 6"),
            ["opcode_map.cfgP[1]: field `zp` has 6 bits; zp needs 8"],
        ),
        (
            "conv_v4",
            True,
            put("buffers", "P", 16),
            ["accel_size: a 16x2 tile of P (int32) needs 32 words; its buffer holds 16"],
        ),
        (
            "v3_4",
            True,
            both(
                put("accel_size", [4, 6, 4]),
                put("buffers", {"A": 16, "B": 24, "C": 24, "P": 12}),
                put("macs", 8),
            ),
            [
                "accel_size: a row of C has 6 elements of int8, not a whole number of words: dim n must be a multiple of 4"
            ],
        ),
        (
            "v3_4",
            True,
            both(put("accel_size", [1, 4, 4]), put("macs", 4), put("stream_width", 64)),
            [
                "stream_width: a 1x4 tile of C (int8) has 1 words, not a multiple of the 2 in 64 bits; take a narrower stream or another accel_size"
            ],
        ),
        (
            "v4_16",
            True,
            swap(
                "opcode_map",
                "sP = [send_literal(32), send_dim(m | n << 10 | k << 20)",
                "sP = [send_literal(32), send_dim(n)",
            ),
            ["opcode_map.sP: send_dim(n): `set dims` takes all dims from one word; m, k missing"],
        ),
        (
            "conv_v3",
            False,
            put("bits", ["sC", "sH", "sJ", "sF", "cO", "save", "rO"]),
            ["bits[2]: unknown opcode `sJ`"],
        ),
        (
            "conv_v3",
            False,
            put("bits", ["sC", "sH", "sI", "sF", "cO", "save", "rO", "sIcO", "sC"]),
            ["bits[7]: `sIcO` has opcode word 70, not a single bit", "bits[8]: `sC` stands twice"],
        ),
        (
            "conv_v3",
            False,
            put("bits", ["sC", "sH", "sF", "cO", "sI", "save", "rO"]),
            [
                "bits: `sIcO` does `load I`, `compute`, `save`, but the bits of its word 70, cO sI save, do `compute`, `load I`, `save`"
            ],
        ),
        (
            "conv_v3",
            False,
            put("device", "sIcO", ["load I", "save", "compute"]),
            [
                "bits: `sIcO` does `load I`, `save`, `compute`, but the bits of its word 70, sI cO save, do `load I`, `compute`, `save`",
                "opcode_flow_map.Fs: (sF ((sIcO)) rO) computes a wrong O under every order of the loops",
            ],
        ),
        (
            "conv_v3",
            False,
            both(
                swap(
                    "opcode_map",
                    "rO = [send_literal(8), recv(O)]",
                    "rO = [send_literal(8), recv(O)], r2 = [send_literal(128), recv(O)]",
                ),
                put("device", "r2", ["store O"]),
                put("bits", ["sC", "sH", "sI", "sF", "cO", "save", "rO", "r2"]),
            ),
            ["bits: rO, r2 each receive a tile, so a word must not combine them; leave one out"],
        ),
    ],
)
def test_fault(
    tmp_path: Path, name: str, post: bool, edit: Callable[[Body], object], faults: list[str]
) -> None:
    assert faults_of(tmp_path, name, edit, post) == faults


@pytest.mark.parametrize(
    ("tile", "settings", "faults"),
    [
        ((8, 7, 7, 512, 3, 3), {}, []),
        ((1, 1, 1, 1, 1, 1), {"zp": -3, "lo": -3, "hi": 5}, []),
        (
            (8, 16, 28, 64, 3, 3),
            {"sh": 2, "sw": 2},
            ["tile: a 64x33x57 tile of I (int8) needs 30096 words; its buffer holds 16384"],
        ),
        (
            (9, 1, 1, 2047, 3, 3),  # 9 filters take the room of 16
            {},
            ["tile: a 9x2047x3x3 tile of F (int8) needs 73696 words; its buffer holds 16384"],
        ),
        (
            (8, 64, 33, 1, 1, 1),  # 33 columns take the room of 40
            {},
            ["tile: a 8x64x33 tile of O (int32) needs 20480 words; its buffer holds 16384"],
        ),
        (
            (1, 1, 1, 1, 1, 1),
            {"pt": 256, "sh": 16},
            [
                "tile: sh = 16 is above 15, the most that a device holds",
                "tile: pt = 256 is above 255, the most that a device holds",
                "tile: opcode_map.cfg[1]: size 16 of dim sh overflows its field of 4 bits from bit 10; at most 15",
                "tile: opcode_map.sI[2]: size 256 of dim pt overflows its field of 8 bits from bit 0; at most 255",
            ],
        ),
        ((1, 1, 1, 1, 1, 1), {"sw": 0, "ih": 1}, ["tile: sw = 0 is below 1"]),
        (
            (513, 1, 1, 1, 1, 1),
            {},
            ["tile: a 513x2 tile of P (int32) needs 1026 words; its buffer holds 1024"],
        ),
    ],
)
def test_tiles(tile: tuple[int, ...], settings: dict[str, int], faults: list[str]) -> None:
    assert check_tile(isa.builtin("conv_v4", data_type="int8", post=True), tile, settings=settings) == faults


def test_windows_are_one_by_one() -> None:
    spec = isa.builtin("conv_v3")
    assert check_tile(spec, (1, 1, 1, 512, 7, 7)) == []
    assert check_tile(spec, (1, 1, 2, 1, 1, 1)) == [
        "tile: size 2 of dim ow must be 1: the device takes one window at a time"
    ]
