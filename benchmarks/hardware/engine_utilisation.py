"""How busy array and streams of an engine are while a whole matmul streams through it, by stream width.

The engine is alone, under Verilator; its input is always valid and its output always ready, so what is
missing to 100 % is the engine's own. A step is `sA sB cC`, and `rC` after each tile of C; the first and the
last steps are left out. The result is compared with NumPy's. Aim: where loading and computing take equally
long (v4_16, tiles of 64x64x64 int32 at 64 bits) the array is busy in 97 % of the cycles.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from axiloom import isa
from axiloom.base.cache import cached_build, content_hash
from axiloom.cosim.build import verilator
from axiloom.hw.rtl_files.verilator import find
from axiloom.hw.verilog import emit as verilog
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.words import pack

AIM = 0.97
BARE = Path(__file__).with_name("bare_engine.cpp")
CASES = (
    ("v4_16", "int32", (3, 2, 4)),
    ("v4_16", "int8", (3, 2, 4)),
    ("v3_16", "int32", (4, 4, 16)),
    ("v3_16", "int8", (4, 4, 16)),
    ("v3_8", "int32", (8, 8, 16)),
)
"""Accelerator, data type, tiles in m, n and k."""


@dataclass(frozen=True)
class Use:
    """Cycles of the measured part, and in how many of them something happened."""

    cycles: int
    computing: int
    beats_in: int
    beats_out: int
    waiting: int


def program(spec: AcceleratorSpec) -> Path:
    """The engine of `spec` behind ``bare_engine.cpp``."""
    text = verilog.emit(spec, top="accelerator")

    def build(folder: Path) -> None:
        (folder / "engine.v").write_text(text, encoding="utf-8")
        verilator.verilate(
            ["--top-module", "axiloom_accelerator", "--Mdir", "out", "engine.v"], "engine", folder
        )
        include = find().root / "include"
        flags = [f"-I{include}", f"-I{include}/vltstd", "-Iout", f"-DBEAT_WORDS={spec.link.beat_words}"]
        generated = sorted((folder / "out").glob("*.cpp"))
        runtime = [include / "verilated.cpp", include / "verilated_threads.cpp"]
        unit = folder / "unit.cpp"
        unit.write_text("".join(f'#include "{file}"\n' for file in [*generated, BARE]))
        verilator.compile_cxx(
            ["-O2", *verilator.COMMON, *flags, unit, *runtime, "-o", verilator.PROGRAM], "engine", folder
        )

    key = content_hash("engine", verilator.identity(), text, BARE)
    return cached_build("engine", key, build) / verilator.PROGRAM


def run(spec: AcceleratorSpec, tiles: tuple[int, int, int], seed: int = 0) -> Use:
    """C = A . B of that many tiles, order m, n, k, flow Cs; raises RuntimeError where it is not NumPy's."""
    sizes = spec.tile.size
    tile_m, tile_n, tile_k = sizes
    info = np.iinfo(spec.data_type.numpy)
    random = np.random.default_rng(seed)
    a, b = (
        random.integers(info.min, info.max, shape, spec.data_type.numpy, endpoint=True)
        for shape in ((tiles[0] * tile_m, tiles[2] * tile_k), (tiles[2] * tile_k, tiles[1] * tile_n))
    )
    words: list[np.ndarray] = []
    for i in range(tiles[0]):
        for j in range(tiles[1]):
            for k in range(tiles[2]):
                rows, cols = slice(i * tile_m, (i + 1) * tile_m), slice(j * tile_n, (j + 1) * tile_n)
                deep = slice(k * tile_k, (k + 1) * tile_k)
                words += [head(spec, "sA"), pack(a[rows, deep], spec.data_type)]
                words += [head(spec, "sB"), pack(b[deep, cols], spec.data_type), head(spec, "cC")]
            words.append(head(spec, "rC"))
    stream = np.concatenate(words)
    beats = len(stream) // spec.link.beat_words
    skip = 2 * beats // (tiles[0] * tiles[1] * tiles[2])
    with tempfile.TemporaryDirectory() as folder:
        sent, result = Path(folder) / "words", Path(folder) / "result"
        sent.write_bytes(stream.astype("<u4").tobytes())
        done = subprocess.run(
            [program(spec), sent, result, str(skip), str(beats - skip)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{spec.name}: {done.stderr.strip()}")
        got = np.frombuffer(result.read_bytes(), "<i4").reshape(tiles[0], tiles[1], tile_m, tile_n)
    exact = a.astype(np.uint32) @ b.astype(np.uint32)
    if not np.array_equal(got.swapaxes(1, 2).reshape(exact.shape).view(np.uint32), exact):
        raise RuntimeError(f"{spec.name} at {spec.link.stream_width} bits: the result is not NumPy's")
    return Use(*map(int, done.stdout.split()))


def head(spec: AcceleratorSpec, name: str) -> np.ndarray:
    """The opcode word, with the dims where the device wants them, filled up to a beat."""
    opcode = spec.opcodes[name]
    words = np.zeros(isa.head_words(spec, opcode), dtype=np.uint32)
    words[0] = opcode.literal
    if spec.tile.flexible:
        m, n, k = spec.tile.size
        words[1] = m | n << 10 | k << 20
    return words


def main() -> None:
    print("an engine alone, input always valid, output always ready; a matmul of many tiles, flow Cs")
    print(
        f"{'accelerator':<12}{'tile':>10}{'type':>7}{'bits':>6}{'ops/cycle':>11}"
        f"{'array':>8}{'in':>8}{'out':>8}{'in waits':>10}"
    )
    missed = []
    for name, data_type, tiles in CASES:
        for width in (32, 64, 128):
            spec = isa.revise(isa.builtin(name, data_type=data_type), stream_width=width)
            use = run(spec, tiles)
            share = [part / use.cycles for part in (use.computing, use.beats_in, use.beats_out, use.waiting)]
            print(
                f"{name:<12}{'x'.join(map(str, spec.tile.size)):>10}{data_type:>7}{width:>6}"
                f"{2 * spec.macs * share[0]:>11.1f}"
                + "".join(f"{part:>8.1%}" for part in share[:3])
                + f"{share[3]:>10.1%}",
                flush=True,
            )
            if max(share[:2]) < AIM:
                missed.append(f"{name} {data_type} at {width} bits")
    print(
        "each: the array or the input stream is busy in 97 % of the cycles: "
        + ("no: " + ", ".join(missed) if missed else "yes")
    )
    if missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
