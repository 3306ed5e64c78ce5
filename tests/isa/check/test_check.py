"""Every fault of a specification, word for word, in the place where it is; and all of them at once."""

# ruff: noqa: E501 - messages stand whole, so that they can be searched for

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.isa.edits import Body, both, faults_of, put, swap

from axiloom import isa
from axiloom.isa.check.check import check_tile, remarks

_V3 = "opcode_map<sA = [send_literal(1), send(A)], sB = [send_literal(2), send(B)], cC = [send_literal(4)], "
THERE_ARE = "there are int8, int16, int32, uint8, float32, fixed<BITS,FRACTION>, ufixed<8,FRACTION>, adaptivfloat<8,3>"
_V4_DIMS = "send_dim(m | n << 10 | k << 20)"


@pytest.mark.parametrize(
    ("name", "edit", "faults"),
    [
        # --- kernel, dims, data, tile
        (
            "v3_4",
            put("kernel", "linalg.matmull"),
            [
                "kernel: `linalg.matmull` is no kernel; `axiloom spec kernels` lists those with a name, and a "
                "file may write one out; did you mean `linalg.matmul`?"
            ],
        ),
        (
            "v3_4",
            put("data_type", "int33"),
            ["data_type: unknown type `int33`; did you mean `int32`?; " + THERE_ARE],
        ),
        (
            "v3_4",
            put("dims", ["m", "k", "n"]),
            ["dims: m, k, n are not those of linalg.matmul, which are m, n, k, in this order"],
        ),
        (
            "v3_4",
            put("data", {"A": ["m", "k"], "B": ["k", "n"], "c": ["m", "n"]}),
            [
                "data.c: unknown operand `c`; did you mean `C`?; the operands are A (m, k), B (k, n), C (m, n)",
                "data: operand `C` is missing; the operands are A (m, k), B (k, n), C (m, n)",
            ],
        ),
        (
            "v3_4",
            put("accel_size", [4, 4]),
            ["accel_size: 4x4 has 2 sizes; the dims are m, n, k"],
        ),
        ("v3_4", put("accel_size", [4, 4, 0]), ["accel_size[2]: 0 is too small: at least 1"]),
        (
            "v4_16",
            put("accel_size", [64, 60, 64]),
            ["accel_size: size 60 of dim n is not a multiple of the granule 16"],
        ),
        (
            "v3_4",
            both(put("data_type", "int8"), put("accel_size", [4, 4, 6]), put("buffers", "A", 24)),
            [
                "accel_size: a row of A has 6 elements of int8, not a whole number of words: "
                "dim k must be a multiple of 4"
            ],
        ),
        # --- buffers, multiply-adds, stream
        (
            "v3_8",
            put("accel_size", [8, 8, 16]),
            [
                "accel_size: a 8x16 tile of A (int32) has 128 words; its buffer holds 64",
                "accel_size: a 16x8 tile of B (int32) has 128 words; its buffer holds 64",
            ],
        ),
        (
            "v3_4",
            put("buffers", {"A": 16, "B": 16, "D": 16}),
            [
                "buffers.D: unknown operand `D`; they are A, B, C",
                "buffers: the buffer of operand `C` is missing",
            ],
        ),
        ("v3_4", put("macs", 12), ["macs: 12 is not a power of two"]),
        ("v3_4", put("macs", 32), ["macs: 32 does not divide the 16 elements of C in a tile (m x n)"]),
        ("v3_4", put("stream_width", 48), ["stream_width: 48 is not one of 32, 64, 128"]),
        (
            "v3_4",
            both(put("stream_width", 128), put("accel_size", [2, 4, 1]), put("macs", 8)),
            [
                "stream_width: a 2x1 tile of A (int32) has 2 words, not a multiple of the 4 in 128 bits; "
                "take a narrower stream or another accel_size",
            ],
        ),
        (
            "v4_16",
            both(put("stream_width", 64), put("dma_config", "inputAddress", 0x16000004)),
            ["dma_config.inputAddress: 0x16000004 is not a multiple of 8 bytes"],
        ),
        # --- opcodes
        (
            "v3_4",
            swap("opcode_map", "send(A)", "send(Q)"),
            [
                "opcode_map.sA[1]: send(Q): unknown operand `Q`; they are A, B, C",
            ],
        ),
        (
            "v3_4",
            swap("opcode_map", "send(A)", "send(-1)"),
            ["opcode_map.sA[1]: send(-1): operand -1 is out of range: 0 to 2, which are A, B, C"],
        ),
        (
            "v3_4",
            both(swap("opcode_map", "send(A)", "send(C)"), put("device", "sA", ["load C"])),
            [
                "opcode_map.sA[1]: send(C): C is the result and cannot be sent; send A or B",
            ],
        ),
        (
            "v3_4",
            swap("opcode_map", "recv(C)", "recv(A)"),
            ["opcode_map.rC[1]: recv(A): A does not come back; only C does"],
        ),
        (
            "v4_16",
            swap("opcode_map", f"{_V4_DIMS}]", "send_dim(M | n << 10 | k << 20)]"),
            [
                "opcode_map.cC[1]: send_dim(M | n << 10 | k << 20): unknown dim `M`; did you mean `m`?; "
                "they are m, n, k"
            ],
        ),
        (
            "v3_4",
            both(swap("opcode_map", "send_literal(4)", "send_literal(4), send_idx(x)")),
            ["opcode_map.cC[1]: send_idx(x): unknown dim `x`; they are m, n, k"],
        ),
        (
            "v3_4",
            swap("opcode_map", "send_literal(2)", "send_literal(1)"),
            [
                "opcode_map.sB: literal 1 (0x1) is taken by `sA`; the device could not tell them apart",
            ],
        ),
        (
            "v3_4",
            swap("opcode_map", "send_literal(4)", "send_literal(0x100000000)"),
            ["opcode_map.cC[0]: literal 4294967296 does not fit 32 bits"],
        ),
        (
            "v3_4",
            swap("opcode_map", "[send_literal(1), send(A)]", "[send(A)]"),
            [
                "opcode_map.sA: must begin with send_literal; "
                "only an accelerator with a single opcode may leave it out"
            ],
        ),
        (
            "v1_4",
            swap("opcode_map", "recv(C)", "recv(C), recv(C)"),
            [
                "opcode_map.sAsBcCrC: receives 2 tiles; one transfer takes only one",
                "device.sAsBcCrC: contradicts the host: it has no action for `recv(C)` "
                "(opcode_map.sAsBcCrC[3]); add `store C`",
            ],
        ),
        (
            "v1_4",
            both(swap("opcode_map", "send(A), send(B), ", ""), put("device", "sAsBcCrC", ["store C"])),
            [
                "opcode_map.sAsBcCrC: sends nothing, so nothing tells the device to begin",
                "opcode_flow_map.Ns: (sAsBcCrC) computes a wrong C under every order of the loops",
            ],
        ),
        (
            "v3_4",
            put("opcode_map", "opcode_map<sA = [send(A)>"),
            [
                "opcode_map: column 25: expected `,`, not `>`",
            ],
        ),
        ("v3_4", both(put("opcode_map", "<>"), put("device", {})), ["opcode_map: no opcode is defined"]),
        # --- fields of send_dim
        (
            "v4_16",
            put("accel_size", [1024, 16, 16]),
            [
                "opcode_map.sA[1]: size 1024 of dim m overflows its field of 10 bits from bit 0; at most 1023",
                "opcode_map.sB[1]: size 1024 of dim m overflows its field of 10 bits from bit 0; at most 1023",
                "opcode_map.cC[1]: size 1024 of dim m overflows its field of 10 bits from bit 0; at most 1023",
                "opcode_map.rC[1]: size 1024 of dim m overflows its field of 10 bits from bit 0; at most 1023",
                "accel_size: a 1024x16 tile of A (int32) has 16384 words; its buffer holds 4096",
                "accel_size: a 1024x16 tile of C (int32) has 16384 words; its buffer holds 4096",
                "dma_config.inputBufferSize: 65536 bytes are too few: `sA` sends 65544 at once",
            ],
        ),
        (
            "v4_16",
            swap(
                "opcode_map",
                f"sA = [send_literal(1), {_V4_DIMS}",
                "sA = [send_literal(1), send_dim(m | n << 1 | k << 31)",
            ),
            [
                "opcode_map.sA[1]: size 64 of dim m overflows its field of 1 bit from bit 0; at most 1",
                "opcode_map.sA[1]: size 64 of dim k overflows its field of 1 bit from bit 31; at most 1",
            ],
        ),
        (
            "v4_16",
            swap(
                "opcode_map",
                f"sA = [send_literal(1), {_V4_DIMS}",
                "sA = [send_literal(1), send_dim(m | n << 10 | k << 10 | n << 32)",
            ),
            [
                "opcode_map.sA[1]: field `k << 10` overlaps another field that begins at bit 10",
                "opcode_map.sA[1]: field `n << 32` lies outside a word of 32 bits",
                "opcode_map.sA[1]: dim `n` stands twice in one word",
            ],
        ),
        (
            "v4_16",
            swap("opcode_map", f"sA = [send_literal(1), {_V4_DIMS}", "sA = [send_literal(1), send_dim(m)"),
            ["opcode_map.sA: send_dim(m): `set dims` takes all dims from one word; n, k missing"],
        ),
        # --- the device against the host
        (
            "v3_4",
            put("device", "sA", ["load B"]),
            ["device.sA: contradicts the host: `load B`, but the host does `send(A)`; write `load A`"],
        ),
        (
            "v3_4",
            put("device", "sA", []),
            [
                "device.sA: contradicts the host: it has no action for `send(A)` (opcode_map.sA[1]); add `load A`"
            ],
        ),
        (
            "v3_4",
            put("device", "cC", ["compute", "store C"]),
            ["device.cC: contradicts the host: the host has no action for `store C`"],
        ),
        (
            "v3_4",
            put("device", "cC", ["compute", "store A", "clear B", "load C", "load D"]),
            [
                "device.cC[1]: store A: only C can be stored and cleared",
                "device.cC[2]: clear B: only C can be stored and cleared",
                "device.cC[3]: load C: C is computed, not loaded; load A or B",
                "device.cC[4]: load D: unknown operand `D`; they are A, B, C",
            ],
        ),
        (
            "v3_4",
            put("device", "cC", ["compote"]),
            [
                "device.cC[0]: `compote` is not a device action: `load X`, `compute`, `compute KERNEL`, `store X`, "
                "`requantise X`, `clear X`, `save`, `set dims` or `skip`"
            ],
        ),
        (
            "v3_4",
            put(
                "device",
                {"sA": ["load A"], "sb": ["load B"], "cC": ["compute"], "rC": ["store C", "clear C"]},
            ),
            [
                "device: opcode `sB` is missing: say what it does",
                "device.sb: unknown opcode `sb`; did you mean `sB`?",
            ],
        ),
        (
            "v4_16",
            lambda body: body.pop("tile"),
            [
                "device: `sA`, `sB`, `cC`, `rC`: `set dims` needs a flexible tile; give tile.granule, "
                "or `skip` the word",
            ],
        ),
        (
            "v3_4",
            put("tile", {"granule": [4, 4, 4]}),
            ["device: the tile is flexible (tile.granule), but no opcode does `set dims`"],
        ),
        # --- flows
        (
            "v3_4",
            put("opcode_flow_map", "Cs", "opcode_flow<((sA sb cC) rC)>"),
            ["opcode_flow_map.Cs: unknown opcode `sb`; did you mean `sB`?"],
        ),
        (
            "v3_4",
            put("opcode_flow_map", "Cs", "opcode_flow<((sA sB cC) rC>"),
            ["opcode_flow_map.Cs: column 27: expected an opcode, `(` or `)`, not `>`"],
        ),
        (
            "v3_4",
            put("opcode_flow_map", "X", "(sA sB cC)"),
            ["opcode_flow_map.X: (sA sB cC) computes a wrong C under every order of the loops"],
        ),
        (
            "v3_4",
            put("opcode_flow_map", "X", "((((sA sB cC rC))))"),
            [
                "opcode_flow_map.X: ((((sA sB cC rC)))) has 4 scopes inside each other, but there are only 3 loops"
            ],
        ),
        (
            "v3_4",
            put("selected_flow", "Ds"),
            ["selected_flow: unknown flow `Ds`; the flows are Ns, As, Bs, Cs"],
        ),
        ("v3_4", put("init_opcodes", "(rest)"), ["init_opcodes: unknown opcode `rest`"]),
        (
            "v3_4",
            put("init_opcodes", "(sA)"),
            ["init_opcodes: `sA` does send(A), but outside the loops there is no tile"],
        ),
        (
            "v3_4",
            put("init_opcodes", "(cC (cC))"),
            [
                "init_opcodes: has inner scopes, but these opcodes are sent once",
            ],
        ),
        # --- DMA
        (
            "v3_16",
            put("dma_config", "inputBufferSize", 1024),
            [
                "dma_config.inputBufferSize: 1024 bytes are too few: `sA` sends 1028 at once",
                "dma_config.inputBufferSize: 1024 bytes are too few: `sB` sends 1028 at once",
            ],
        ),
        (
            "v3_16",
            put("dma_config", "outputBufferSize", 1020),
            ["dma_config.outputBufferSize: 1020 bytes are too few: `rC` receives 1024 at once"],
        ),
        (
            "v3_16",
            put("dma_config", "lengthWidth", 10),
            [
                "dma_config.lengthWidth: `sA` sends 1028 bytes in one transfer; 10 bits hold at most 1023",
                "dma_config.lengthWidth: `sB` sends 1028 bytes in one transfer; 10 bits hold at most 1023",
                "dma_config.lengthWidth: `rC` receives 1024 bytes in one transfer; 10 bits hold at most 1023",
            ],
        ),
        (
            "v3_4",
            put("dma_config", "lengthWidth", 27),
            ["dma_config.lengthWidth: 27 bits: the LENGTH register has 8 to 26"],
        ),
        (
            "v3_4",
            put("dma_config", "inputAddress", "0x40400002"),
            [
                "dma_config.inputAddress: 0x40400002 is not a multiple of 4 bytes",
                "dma_config.inputAddress: 65536 bytes from 0x40400002 overlap what lies at address",
            ],
        ),
        (
            "v3_4",
            put("dma_config", "outputAddress", 0xFFFFFFFC),
            [
                "dma_config.outputAddress: 65536 bytes from 0xfffffffc do not fit the address space of 32 bits",
            ],
        ),
        (
            "v3_4",
            put("dma_config", "inputBufferSize", 1026),
            ["dma_config.inputBufferSize: 1026 is not a multiple of 4 bytes"],
        ),
        # --- the form of the file
        (
            "v3_4",
            both(put("selectd_flow", "Cs"), put("macs", "16"), put("dma_config", "inputAddress", "22")),
            [
                "accelerators[0]: unknown key `selectd_flow`; did you mean `selected_flow`?",
                "dma_config.inputAddress: '22' is not an address: an integer from 0 or a string `0x...`",
                'macs: "16" is not of type integer',
            ],
        ),
        (
            "v3_4",
            lambda body: (body.pop("device"), body.pop("kernel")),
            ["accelerators[0]: `kernel` is missing", "accelerators[0]: `device` is missing"],
        ),
        (
            "v3_4",
            put("name", "3 x"),
            ["name: `3 x` is not a name: letters, digits and `_.-`, a letter first"],
        ),
        ("v3_4", put("opcode_flow_map", {}), ["opcode_flow_map: is empty"]),
    ],
)
def test_fault(tmp_path: Path, name: str, edit: Callable[[Body], object], faults: list[str]) -> None:
    assert faults_of(tmp_path, name, edit) == faults


def test_faults_of_all_kinds_at_once(tmp_path: Path) -> None:
    """A text that does not parse, a wrong type, an unknown key and wrong values hide nothing else."""
    edits = both(
        put("opcode_flow_map", "Ns", "(sA"),
        put("opcode_flow_map", "As", "(sX)"),
        put("macs", "many"),
        put("bufers", {}),
        put("data_type", "decimal"),
        put("stream_width", 31),
        put("device", "sA", ["load B"]),
        swap("opcode_map", "send_literal(2)", "send_literal(1)"),
        put("dma_config", "lengthWidth", 30),
    )
    assert faults_of(tmp_path, "v3_4", edits) == [
        "accelerators[0]: unknown key `bufers`; did you mean `buffers`?",
        'macs: "many" is not of type integer',
        "data_type: unknown type `decimal`; " + THERE_ARE,
        "opcode_flow_map.Ns: column 4: expected an opcode, `(` or `)`, not the end",
        "opcode_map.sB: literal 1 (0x1) is taken by `sA`; the device could not tell them apart",
        "device.sA: contradicts the host: `load B`, but the host does `send(A)`; write `load A`",
        "opcode_flow_map.As: unknown opcode `sX`",
        "stream_width: 31 is not one of 32, 64, 128",
        "dma_config.lengthWidth: 30 bits: the LENGTH register has 8 to 26",
    ]


def test_a_faulty_opcode_hides_no_fault_of_another(tmp_path: Path) -> None:
    edits = both(
        swap("opcode_map", "send(A)", "send(7)"),
        swap("opcode_map", "recv(C)]", "recv(C)], x = [send_literal(9)]"),
        put("device", "sB", ["lod B"]),
        put("device", "rC", ["clear C"]),
        put("device", "x", []),
        put("opcode_flow_map", "Y", "(rC)"),
        put("opcode_flow_map", "Z", "(cC)"),
        put("selected_flow", "Css"),
        put("accel_size", [4, 4, 8]),
        put("dma_config", "outputBufferSize", 32),
    )
    assert faults_of(tmp_path, "v3_4", edits) == [
        "device.sB[0]: `lod B` is not a device action: `load X`, `compute`, `compute KERNEL`, `store X`, `requantise X`, `clear X`, `save`, `set dims` or `skip`",
        "opcode_map.sA[1]: send(7): operand 7 is out of range: 0 to 2, which are A, B, C",
        "device.rC: contradicts the host: it has no action for `recv(C)` (opcode_map.rC[1]); add `store C`",
        "selected_flow: unknown flow `Css`; did you mean `Cs`?; the flows are Ns, As, Bs, Cs, Y, Z",
        "opcode_flow_map.Z: (cC) computes a wrong C under every order of the loops",
        "accel_size: a 4x8 tile of A (int32) has 32 words; its buffer holds 16",
        "accel_size: a 8x4 tile of B (int32) has 32 words; its buffer holds 16",
        "dma_config.outputBufferSize: 32 bytes are too few: `rC` receives 64 at once",
    ]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("{", ["not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"]),
        ("[]", ["[] is not of type object"]),
        ("{}", ["`accelerators` is missing"]),
        ('{"accelerators": []}', ["accelerators: is empty"]),
        ('{"accelerators": [3]}', ["accelerators[0]: 3 is not of type object"]),
        (
            '{"acelerators": []}',
            [
                "unknown key `acelerators`; did you mean `accelerators`?",
                "`accelerators` is missing",
            ],
        ),
    ],
)
def test_faulty_files(tmp_path: Path, text: str, faults: list[str]) -> None:
    path = tmp_path / "faulty.json"
    path.write_text(text)
    assert sorted(isa.check_file(path)) == sorted(faults)


def test_names_of_accelerators_are_unique_and_keys_too(tmp_path: Path) -> None:
    path = tmp_path / "twice.json"
    text = isa.dumps(isa.builtin("v3_4"), isa.builtin("v3_4"))
    path.write_text(text.replace('"macs": 16', '"macs": 8, "macs": 16', 1))
    assert isa.check_file(path) == [
        "key `macs` stands twice in one object; only one of the values can count",
        "accelerators[1].name: accelerators[0] is called `v3_4` too",
    ]


@pytest.mark.parametrize(
    ("name", "tile", "faults"),
    [
        ("v3_8", (8, 8, 8), []),
        ("v4_16", (16, 256, 16), []),
        ("v4_16", (32, 128, 32), []),
        ("v3_8", (8, 8, 16), ["--tile: v3_8 takes only tiles of 8x8x8, not 8x8x16"]),
        ("v4_16", (16, 16), ["--tile: 16x16 has 2 sizes; the dims are m, n, k"]),
        ("v4_16", (16, 0, 16), ["--tile: 16x0x16 has a size below 1"]),
        (
            "v4_16",
            (8, 24, 16),
            [
                "--tile: size 8 of dim m is not a multiple of the granule 16",
                "--tile: size 24 of dim n is not a multiple of the granule 16",
            ],
        ),
        (
            "v4_16",
            (16, 16, 512),
            [
                "--tile: a 16x512 tile of A (int32) has 8192 words; its buffer holds 4096",
                "--tile: a 512x16 tile of B (int32) has 8192 words; its buffer holds 4096",
            ],
        ),
    ],
)
def test_tiles(name: str, tile: tuple[int, ...], faults: list[str]) -> None:
    assert check_tile(isa.builtin(name), tile, "--tile") == faults


def test_narrow_elements_make_room_for_larger_tiles() -> None:
    assert check_tile(isa.builtin("v4", data_type="int8"), (16, 16, 1024)) == []
    assert check_tile(isa.builtin("v4", data_type="int16"), (16, 16, 1024)) != []


def test_an_opcode_that_nothing_sends_is_a_remark(tmp_path: Path) -> None:
    edit = both(
        put("opcode_map", _V3 + "rC = [send_literal(8), recv(C)], reset = [send_literal(16)]>"),
        put("device", "reset", ["clear C"]),
    )
    assert faults_of(tmp_path, "v3_4", edit) == []
    (spec,) = isa.load_all(tmp_path / "edited.json").values()
    assert remarks(spec) == ["opcode_map.reset: no flow uses opcode `reset`, nor does init_opcodes"]
