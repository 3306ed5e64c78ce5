"""How busy the array of conv_v4 is with tiles of ResNet18's convolutions, by data type and stream width.

The engine is alone, under Verilator; its input is always valid and its output always ready, so what is
missing to 100 % is the engine's own. Three image tiles follow each other, each with as many rows as the
buffers hold and with two tiles of output channels (flow Is, `sI (sF cO rO)`); the second one is measured,
from its first beat to the third one's first, so its loads and stores count. The result is compared with
NumPy's. Aim: multiply-adds in 95 % of the cycles. `ops/cycle` leaves out what pixels beyond the right edge
of a row of outputs cost (7 columns take 8).
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from axiloom import isa
from axiloom.isa import AcceleratorSpec
from axiloom.isa.kernels.forms import convolution
from benchmarks.hardware.conv_tiles import Layer, largest_tile, opcode
from benchmarks.hardware.engine_utilisation import Use, program
from benchmarks.paper.fig16 import LAYERS

AIM = 0.95
CHANNEL_TILES = 2
IMAGES = 3


def run(spec: AcceleratorSpec, engine: Path, values: Mapping[str, int], seed: int = 0) -> Use:
    """Three image tiles; raises RuntimeError where the result is not NumPy's. `engine`: program of `spec`."""
    info, random = np.iinfo(spec.data_type.numpy), np.random.default_rng(seed)

    def elements(operand: str) -> np.ndarray:
        shape = tuple(values[d] for d in spec.data[operand])
        return random.integers(info.min, info.max, shape, spec.data_type.numpy, endpoint=True)

    words = [opcode(spec, "cfg", values)]
    expected = []
    filters = [elements("F") for _ in range(CHANNEL_TILES)]
    for _ in range(IMAGES):
        image = elements("I")
        words.append(opcode(spec, "sI", values, image))
        for array in filters:
            words += [
                opcode(spec, "sF", values, array),
                opcode(spec, "cO", values),
                opcode(spec, "rO", values),
            ]
            wide = (tensor.astype(np.int32).view(np.uint32) for tensor in (image, array))
            expected.append(convolution(*wide, values))
    stream = np.concatenate(words)
    beats = len(stream) // spec.link.beat_words
    with tempfile.TemporaryDirectory() as folder:
        sent, result = Path(folder) / "words", Path(folder) / "result"
        sent.write_bytes(stream.astype("<u4").tobytes())
        done = subprocess.run(
            [engine, sent, result, str(beats // IMAGES), str(beats - beats // IMAGES)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{spec.name}: {done.stderr.strip()}")
        got = np.frombuffer(result.read_bytes(), "<u4").reshape(len(expected), -1)
    for array, right in zip(got, expected, strict=True):
        if not np.array_equal(array[: right.size], right.ravel()):
            raise RuntimeError(f"{spec.name} at {spec.link.stream_width} bits: the result is not NumPy's")
    return Use(*map(int, done.stdout.split()))


def main() -> None:
    print("conv_v4 alone, input always valid, output always ready; tiles of ResNet18's convolutions, flow Is")
    print(
        f"{'layer':<16}{'tile of O':>12}{'ic':>5}{'type':>7}{'bits':>6}{'ops/cycle':>11}"
        f"{'array':>8}{'in':>8}{'out':>8}"
    )
    missed = []
    for data_type, width in (("int8", 32), ("int8", 64), ("int32", 64)):
        spec = isa.revise(isa.builtin("conv_v4", data_type=data_type), stream_width=width)
        engine = program(spec)
        for name in LAYERS:
            layer = Layer.named(name)
            values = layer.rows(largest_tile(spec, layer), 0)
            use = run(spec, engine, values)
            products = CHANNEL_TILES * np.prod([values[d] for d in spec.dims], dtype=np.int64)
            shares = [part / use.cycles for part in (use.computing, use.beats_in, use.beats_out)]
            shape = "x".join(str(values[d]) for d in spec.data["O"])
            print(
                f"{name:<16}{shape:>12}{values['ic']:>5}{data_type:>7}{width:>6}"
                f"{2 * products / use.cycles:>11.1f}" + "".join(f"{share:>8.1%}" for share in shares),
                flush=True,
            )
            if max(shares[:2]) < AIM:
                missed.append(f"{name} {data_type} at {width} bits")
    print(
        "each: the array or the input stream is busy in 95 % of the cycles: "
        + ("no: " + ", ".join(missed) if missed else "yes")
    )


if __name__ == "__main__":
    main()
