"""Co-simulated RTL cycles a second over a bare Verilator C++ loop of the same SoC. Aim 0.8, at least 0.6.

Both do the same transfers (v3_16, whole batches of tiles), so that the array toggles alike. The bare loop
has no VPI, CPU, monitors or counters. Cycles are divided by CPU time (both are one thread), runs alternate
and medians are compared, so that other load on the machine matters little.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from pathlib import Path

from axiloom import boards, isa
from axiloom.base.cache import cached_build, content_hash
from axiloom.cosim.build import toolchain, verilator
from axiloom.cosim.job import Job
from axiloom.cosim.soc import Soc
from axiloom.cosim.system import System
from axiloom.hw.rtl_files.verilator import find
from axiloom.hw.verilog.emit import emit
from axiloom.isa import AcceleratorSpec

REPEAT = 150
TILES = 31
RUNS = 3
HERE = Path(__file__).parent


def definitions(spec: AcceleratorSpec) -> dict[str, int]:
    """What rtl_speed.c and bare_soc.cpp must agree on."""
    literal = {name: op.literal or 0 for name, op in spec.opcodes.items()}
    return {
        "LOAD_A": literal["sA"],
        "LOAD_B": literal["sB"],
        "COMPUTE": literal["cC"],
        "STORE": literal["rC"],
        **{f"{operand}_WORDS": spec.operand_words(operand) for operand in "ABC"},
        "IN_ADDRESS": spec.link.dma.input_address,
        "OUT_ADDRESS": spec.link.dma.output_address,
        "TILES": TILES,
        "REPEAT": REPEAT,
    }


def bare_program(spec: AcceleratorSpec, board: boards.Board) -> Path:
    """The plain loop, built with the optimisation that the co-simulation has."""
    text = emit(spec, top="soc")
    latencies = {"READ_LATENCY": board.ddr_read_cycles, "WRITE_LATENCY": board.ddr_write_cycles}
    defines = [f"-D{name}={value}" for name, value in (definitions(spec) | latencies).items()]

    def build(folder: Path) -> None:
        (folder / "axiloom_soc.v").write_text(text, encoding="utf-8")
        verilator.verilate(
            ["--top-module", "axiloom_soc", "--Mdir", "out", "axiloom_soc.v"], "bare loop", folder
        )
        include = find().root / "include"
        flags = [
            *verilator.OPTIMISE,
            *verilator.COMMON,
            *defines,
            f"-I{include}",
            f"-I{include}/vltstd",
            "-Iout",
        ]
        runtime = [include / "verilated.cpp", include / "verilated_threads.cpp"]
        generated = sorted((folder / "out").glob("*.cpp"))
        unit = folder / "unit.cpp"  # as in the co-simulation: the loop and the model are one unit
        unit.write_text("".join(f'#include "{file}"\n' for file in [*generated, HERE / "bare_soc.cpp"]))
        verilator.compile_cxx([*flags, unit, *runtime, "-o", verilator.PROGRAM], "bare loop", folder)

    key = content_hash("bare", verilator.identity(), text, defines, HERE / "bare_soc.cpp")
    return cached_build("bare", key, build) / verilator.PROGRAM


def main() -> None:
    spec = isa.builtin("v3", 16)
    board = boards.load(boards.DEFAULT)
    bare = bare_program(spec, board)
    soc = Soc(System(spec))
    soc.build()
    with tempfile.TemporaryDirectory() as folder:
        elf = Path(folder) / "load.elf"
        windows = {
            "DMA": spec.link.dma.address,
            "IN_BYTES": spec.link.dma.input_buffer_size,
            "OUT_BYTES": spec.link.dma.output_buffer_size,
        }
        toolchain.compile_bare(
            [HERE / "rtl_speed.c"],
            elf,
            board=board,
            length_bits=spec.link.dma.length_width,
            defines=definitions(spec) | windows,
        )
        job = Job(elf)
        loop, ours, rtl = [], [], []
        for _ in range(RUNS):
            done = subprocess.run([bare], capture_output=True, text=True, check=True)
            cycles, seconds, _last = done.stdout.split()
            loop.append(int(cycles) / float(seconds))
            run = soc.run_many([job])[0].simulation
            assert abs(run["rtl_cycles"] / int(cycles) - 1) < 0.01, "the two do not run the same"
            ours.append(run["rtl_cycles"] / run["process_s"])
            rtl.append(run["rtl_cycles"] / run["process_s"] / run["rtl_share"])
    plain, whole, alone = map(statistics.median, (loop, ours, rtl))
    for name, speed in (
        ("bare Verilator loop", plain),
        ("co-simulated", whole),
        ("co-simulated, RTL alone", alone),
    ):
        print(f"{name:<24} {speed / 1e6:6.2f} M cycles/s {speed / plain:6.2f} of the bare loop")
    print("aim: co-simulated 0.8 of the bare loop, at least 0.6")


if __name__ == "__main__":
    main()
