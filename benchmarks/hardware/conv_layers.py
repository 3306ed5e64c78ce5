"""ResNet18's eleven convolutions at full size on each convolution accelerator, against PyTorch's integers.

The engine is alone, under Verilator, and the words of a whole layer stream through it: for conv_v3 every
window that a host would cut out (over a hundred million words a layer), for conv_v4 image tiles, filters and
partial sums over the depth. Operands are random over the whole range of their type; every word of the result
is compared, mod 2^32. Nothing of Python runs by cycle: a C++ bench takes the words from a pipe.

What has been computed is kept in ``conv_layers.jsonl`` in the user's cache folder, under the hash of engine,
bench and layer: a run that was stopped goes on where it was. Without torch, NumPy stands in, and says so.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from axiloom import isa
from axiloom.base.cache import cache_root
from axiloom.isa import AcceleratorSpec
from axiloom.isa.contract.words import Words
from axiloom.isa.kernels.forms import convolution
from axiloom.sweep.store import Store, key
from benchmarks.hardware.conv_tiles import Layer, largest_tile, opcode
from benchmarks.hardware.engine_utilisation import program
from benchmarks.paper.fig16 import LAYERS
from benchmarks.rows import pack_rows

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

REFERENCE = f"torch {torch.__version__}" if torch else f"NumPy {np.__version__}"
ACCELERATORS = ("conv_v3", "conv_v4")
DATA_TYPES = ("int8", "int32")

Elements = npt.NDArray[np.signedinteger]
Part = tuple[slice, slice, slice]
"""Channels, rows and columns of O."""


@dataclass(frozen=True)
class Stream:
    """The words to send, and which part of O comes back for them."""

    words: Words
    back: Part | None = None


def expected(layer: Layer, image: Elements, filters: Elements) -> npt.NDArray[np.uint32]:
    """O (oc, oh, ow) mod 2^32."""
    if torch is None:
        sizes = layer.dims | {"ih": layer.size, "iw": layer.size, "pt": layer.pad, "pl": layer.pad}
        return convolution(image.astype(np.uint32), filters.astype(np.uint32), sizes)
    operands = (torch.from_numpy(tensor.astype(np.int64)) for tensor in (image[None], filters))
    result = torch.nn.functional.conv2d(*operands, stride=layer.stride, padding=layer.pad)
    return result[0].numpy().astype(np.uint32)


def windows(spec: AcceleratorSpec, layer: Layer, image: Elements, filters: Elements) -> Iterator[Stream]:
    """For conv_v3: a filter, all windows of the image, its channel of O (flow Fs)."""
    padded = np.pad(image, ((0, 0), *[(layer.pad, layer.pad)] * 2))
    views = np.lib.stride_tricks.sliding_window_view(padded, (layer.taps, layer.taps), (1, 2))
    lines = views[:, :: layer.stride, :: layer.stride].transpose(1, 2, 0, 3, 4)
    lines = lines.reshape(layer.out * layer.out, -1)
    head = opcode(spec, "sIcO", layer.dims)
    count = len(lines) * spec.words_of("I", (layer.ic, layer.taps, layer.taps))
    packed = pack_rows(lines, spec.data_type, 1, count).reshape(len(lines), -1)
    block = np.hstack([np.broadcast_to(head, (len(lines), len(head))), packed]).ravel()

    yield Stream(np.concatenate([opcode(spec, name, layer.dims) for name in spec.init_opcodes]))
    for channel in range(layer.oc):
        part = slice(channel, channel + 1)
        yield Stream(opcode(spec, "sF", layer.dims, filters[part]))
        yield Stream(block)
        yield Stream(opcode(spec, "rO", layer.dims), (part, slice(None), slice(None)))


def tiles(spec: AcceleratorSpec, layer: Layer, image: Elements, filters: Elements) -> Iterator[Stream]:
    """For conv_v4: tiles as large as its buffers; images stay while they can, sums always."""
    largest = largest_tile(spec, layer)
    yield Stream(opcode(spec, "cfg", largest))
    there = None
    for row in range(0, layer.out, largest["oh"]):
        for channel in range(0, layer.oc, largest["oc"]):
            tile = layer.rows(largest, row)
            tile["oc"] = min(largest["oc"], layer.oc - channel)
            channels = slice(channel, channel + tile["oc"])
            for first in range(0, layer.ic, largest["ic"]):
                tile["ic"] = min(largest["ic"], layer.ic - first)
                depth = slice(first, first + tile["ic"])
                if there != (row, first):
                    rows = slice(tile["ih0"], tile["ih0"] + tile["ih"])
                    yield Stream(opcode(spec, "sI", tile, image[depth, rows]))
                    there = (row, first)
                yield Stream(opcode(spec, "sF", tile, filters[channels, depth]))
                yield Stream(opcode(spec, "cO", tile))
            yield Stream(opcode(spec, "rO", tile), (channels, slice(row, row + tile["oh"]), slice(None)))


def run(spec: AcceleratorSpec, engine: Path, layer: Layer, seed: int = 0) -> dict[str, int]:
    """Words in, cycles, and how many words of O are not the reference's; `engine` is the program of `spec`.

    Raises RuntimeError where the engine stops or sends another number of words.
    """
    info, random = np.iinfo(spec.data_type.numpy), np.random.default_rng(seed)
    image, filters = (
        random.integers(info.min, info.max, shape, spec.data_type.numpy, endpoint=True)
        for shape in ((layer.ic, layer.size, layer.size), (layer.oc, layer.ic, layer.taps, layer.taps))
    )
    sent, parts = 0, []
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result"
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        with subprocess.Popen([engine, "/dev/stdin", result], **pipes) as process:
            assert process.stdin
            streams = (windows if spec.form.saves else tiles)(spec, layer, image, filters)
            try:
                for stream in streams:
                    process.stdin.write(stream.words.astype("<u4").tobytes())
                    sent += stream.words.size
                    parts += [stream.back] if stream.back else []
            except BrokenPipeError:
                pass  # its message says why
            out, err = process.communicate()
        if process.returncode:
            raise RuntimeError(f"{spec.name}: {err.decode().strip()}")
        words = np.fromfile(result, "<u4")
    got = np.zeros((layer.oc, layer.out, layer.out), np.uint32)
    for part in parts:
        shape = got[part].shape
        count = spec.words_of("O", shape)
        if words.size < count:
            raise RuntimeError(f"{spec.name}: {count - words.size} words of a tile of O did not come")
        got[part] = words[: got[part].size].reshape(shape)
        words = words[count:]
    if words.size:
        raise RuntimeError(f"{spec.name}: {words.size} words came that nobody asked for")
    differing = int((got != expected(layer, image, filters)).sum())
    return {"words": sent, "cycles": int(out.split()[0]), "differing": differing}


def main() -> None:
    print(f"engine alone under Verilator, layers at full size, every word of O against {REFERENCE}")
    if torch is None:
        print("torch is not installed: NumPy stands in for it")
    print(
        f"{'layer':<16}{'accelerator':<13}{'type':>6}{'words of O':>12}{'words in':>13}{'cycles':>13}"
        f"{'seconds':>9}  result"
    )
    failed = 0
    with Store(cache_root() / "conv_layers.jsonl") as store:
        for accelerator in ACCELERATORS:
            for data_type in DATA_TYPES:
                spec = isa.builtin(accelerator, data_type=data_type)
                engine = program(spec)
                for name in LAYERS:
                    layer = Layer.named(name)
                    # Its folder's name is the hash of all that the engine is made of.
                    point = {"layer": name, "engine": engine.parent.name, "reference": REFERENCE}
                    took = "stored"
                    if key(point) not in store.records:
                        start = time.monotonic()
                        store.append({"key": key(point), "point": point, "result": run(spec, engine, layer)})
                        took = f"{time.monotonic() - start:.0f}"
                    result = store.records[key(point)]["result"]
                    failed += result["differing"] > 0
                    verdict = f"{result['differing']} words DIFFER" if result["differing"] else "bit-exact"
                    count = layer.oc * layer.out * layer.out
                    print(
                        f"{name:<16}{accelerator:<13}{data_type:>6}{count:>12,}{result['words']:>13,}"
                        f"{result['cycles']:>13,}{took:>9}  {verdict}",
                        flush=True,
                    )
    total = len(ACCELERATORS) * len(DATA_TYPES) * len(LAYERS)
    print(f"{total - failed} of {total} are bit-exact against {REFERENCE}")
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
