"""What becomes of a driver by hand: compiled for the simulated CPU, run on our RTL, held against NumPy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from axiloom.isa.files.library import builtin, dumps
from benchmarks.published.drivers import CONFIG, CONV_CONFIG, CONV_HELPER, SENT_FILTER, Driver
from benchmarks.published.lowered import Lowered
from benchmarks.published.rows import Row, last_line, run

Arrays = dict[str, np.ndarray]
MATMUL_MAIN = "int A[M * K], B[K * N], C[M * N];\nint main() {{ {call}(A, B, C); return 0; }}\n"
CONV_MAIN = (
    "enum {{ SIDE = (IHW - FHW) / ST + 1 }};\n"
    "int I[B * IC * IHW * IHW], F[OC * IC * FHW * FHW], O[B * OC * SIDE * SIDE];\n"
    "int main() {{ {call}(I, F, O); return 0; }}\n"
)
RECEIVED = ["store C", "clear C"]
V4: dict[str, tuple[str, list[str]]] = {
    "sA": ("send_literal(1), sizes, send(A)", ["load A"]),
    "sB": ("send_literal(2), sizes, send(B)", ["load B"]),
    "sAsBcC": ("send_literal(7), sizes, send(A), send(B)", ["load A", "load B", "compute"]),
    "rC": ("send_literal(8), sizes, recv(C)", RECEIVED),
    "sAcCrC": ("send_literal(13), sizes, send(A), recv(C)", ["load A", "compute", *RECEIVED]),
    "sBcCrC": ("send_literal(14), sizes, send(B), recv(C)", ["load B", "compute", *RECEIVED]),
    "sAsBcCrC": (
        "send_literal(15), sizes, send(A), send(B), recv(C)",
        ["load A", "load B", "compute", *RECEIVED],
    ),
}
V4_FLOWS = {"Ns": "(sAsBcCrC)", "As": "(sA (sBcCrC))", "Bs": "(sB (sAcCrC))", "Cs": "((sAsBcC) rC)"}
KERNELS = {"mm": MATMUL_MAIN, "conv": CONV_MAIN}
"""The program around a driver, by the first word of its file."""


def matmul(macros: dict[str, int]) -> tuple[Arrays, Arrays]:
    """Operands of the sizes in `macros`, and C as it must be."""
    m, n, k = (macros.get(dim, 16) for dim in "MNK")
    random = np.random.default_rng(5)
    a, b, c = (random.integers(-99, 100, size, np.int32) for size in ((m, k), (k, n), (m, n)))
    return {"A": a, "B": b, "C": c}, {"C": c + a @ b}


def conv(macros: dict[str, int]) -> tuple[Arrays, Arrays]:
    """Image and filters of the sizes in the driver's own file, and what they give."""
    random = np.random.default_rng(5)
    image, filters = (random.integers(-99, 100, size, np.int32) for size in ((4, 9, 9), (4, 4, 3, 3)))
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (1, 2))[:, ::2, ::2]
    return {"I": image, "F": filters}, {"O": np.einsum("ihwrs,oirs->ohw", windows, filters).astype(np.int32)}


DATA = {"mm": matmul, "conv": conv}


def published_v4(bits: int) -> dict[str, Any]:
    """v4 with the opcode words of the published drivers: several actions a word, one word of sizes behind it.

    The built-in v4 takes a word of sizes for each action; `bits`: of each size in the word.
    """
    document: dict[str, Any] = json.loads(dumps(builtin("v4")))
    accelerator = document["accelerators"][0]
    accelerator["opcode_map"] = (
        f"opcode_map<{', '.join(f'{name} = [{host}]' for name, (host, _) in V4.items())}>".replace(
            "sizes", f"send_dim(m | n << {bits} | k << {2 * bits})"
        )
    )
    accelerator["device"] = {name: ["set dims", *device] for name, (_, device) in V4.items()}
    accelerator["opcode_flow_map"] = {name: f"opcode_flow<{flow}>" for name, flow in V4_FLOWS.items()}
    return document


def simulated(folder: Path, words: Sequence[str], inputs: Arrays, wanted: Arrays) -> tuple[bool, str]:
    """Whether the program ends well, with the right result; and the line that says so."""
    command = ["simulate", *words, "--quiet"]
    for option, arrays in (("--load", inputs), ("--expect", wanted)):
        for name, array in arrays.items():
            file = folder / f"{name}{option}.npy"
            np.save(file, array)
            command += [option, f"{name}={file}"]
    code, out, err = run(command)
    right = [line for line in out.splitlines() if line.startswith("Result")]
    return code == 0, (right[0] if right and code == 0 else last_line(err)).replace(f"{folder}/", "")


def of_lowered(folder: Path, name: str, lowered: Lowered) -> Row:
    """A driver in MLIR, as it is."""
    file = folder / "driver.mlir"
    file.write_text(lowered.text, encoding="utf-8")
    words = [str(file), *lowered.accelerator]
    if lowered.spec is not None:
        spec = folder / "device.json"
        spec.write_text(json.dumps(lowered.spec), encoding="utf-8")
        words += ["--spec", str(spec)]
    right, said = simulated(folder, words, lowered.given, lowered.wanted)
    return Row("MLIR", name, "unchanged" if right else "refused", f"{said}, as a driver" if right else said)


def tried(folder: Path, driver: Driver, text: str, macros: dict[str, int]) -> tuple[bool, str]:
    """Whether the program with this driver ends well with the right result; and the line that says so."""
    kind = Path(driver.file).name.split("_")[0]
    (folder / driver.file).parent.mkdir(exist_ok=True)
    (folder / driver.file).write_text(text, encoding="utf-8")
    for name, config in (
        ("bench_config.h", CONFIG),
        ("conv_config.h", CONV_CONFIG),
        ("conv_helper.h", CONV_HELPER),
    ):
        (folder / name).write_text(config, encoding="utf-8")
    main = folder / "main.cpp"
    main.write_text(
        f'#include "{driver.file}"\n' + KERNELS[kind].format(call=driver.function), encoding="utf-8"
    )
    inputs, wanted = DATA[kind](macros)
    words = [str(main), *driver.accelerator]
    if driver.fields:
        spec = folder / "v4.json"
        spec.write_text(json.dumps(published_v4(driver.fields)), encoding="utf-8")
        words = [str(main), "--spec", str(spec)]
    for name, value in macros.items():
        words += ["-D", f"{name}={value}"]
    return simulated(folder, words, inputs, wanted)


def of_driver(folder: Path, name: str, driver: Driver) -> Row:
    """The driver as it is; a convolution that never sends its filters also with these two lines."""
    right, said = tried(folder, driver, driver.text, driver.macros)
    if right:
        return Row("driver", name, "unchanged", said)
    sent = SENT_FILTER.replace("// ", "")
    if SENT_FILTER in driver.text:
        mended, then = tried(folder, driver, driver.text.replace(SENT_FILTER, sent), driver.macros)
        if mended:
            return Row(
                "driver",
                name,
                "after a change",
                f"{said}; its two lines that send a filter are comments: {then}",
            )
    return Row("driver", name, "refused", said)
