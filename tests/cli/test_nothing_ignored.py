"""Options that a command has in general and not in this mode: one line says so, and nothing runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import paper as experiments
from benchmarks.paper import __main__ as paper
from benchmarks.paper.experiment import Options
from tests.cli.commands import keywords, main

EXAMPLE = Path(__file__).parents[2] / "examples" / "verilog_accelerator"
SPEC = str(EXAMPLE / "rowmul.json")
DRIVER = str(Path(__file__).parents[1] / "system" / "drivers" / "several.c")

REFUSED = [
    # a specification in a file, and what chooses a built-in one
    (f"run matmul:8x8x8 --spec {SPEC} --size 4", "--size: chooses a built-in accelerator"),
    (f"run matmul:8x8x8 --spec {SPEC} --encoding bitmask", "--encoding: of a built-in accelerator"),
    (f"compile matmul:8x8x8 --spec {SPEC} --post", "--post: for a built-in accelerator"),
    (f"verilog --spec {SPEC} --data-type int8", "--data-type: of a built-in accelerator"),
    (f"estimate --spec {SPEC} --data-type int8", "--data-type: of a built-in accelerator"),
    (f"board new pynq-z2 --spec {SPEC} --data-type int8 -o never", "--data-type: of a built-in"),
    ("verilog --accel loopback --encoding literals", "--encoding: loopback has the same opcodes in both"),
    ("spec show identity --encoding literals", "--encoding: identity has the same opcodes in both"),
    ("verilog --accel loopback --macs 4", "--macs: loopback copies and multiplies nothing"),
    (
        "explore matmul:64x64x64:int8 --accel v4_16 --device xc7z020 --macs most",
        "--macs most: --device chooses the array by itself",
    ),
    ("verilog --part accelerator --dma sg", "--dma: the accelerator alone has no DMA"),
    # a run
    ("run matmul:8x8x8 --trace-window 1:2", "--trace-window: a part of a trace: give --trace too"),
    ("simulate x.c --trace-window 1:2", "--trace-window: a part of a trace"),
    ("run matmul:8x8x8 --os linux --wait irq", "--wait: --os linux polls the DMA"),
    ("run matmul:8x8x8 --auto", "axiloom run has no option `--auto`, which is of `axiloom nest run`"),
    ("run net.mlir --auto --schedule x", "--schedule: with --auto the schedule is what is searched for"),
    ("run net.mlir --auto --flow Ns", "axiloom nest run has no option `--flow`, which is of `axiloom run`"),
    ("run x.program --auto", "axiloom program run has no option `--auto`, which is of `axiloom nest run`"),
    ("run matmul:8x8x8 --weights streamed", "no option `--weights`, which is of `axiloom network run`"),
    (
        "run matmul:8x8x8 --offload all --offload-from 3",
        "no option `--offload`, which is of `axiloom network",
    ),
    ("run matmul:8x8x8 --stop-after 1", "no option `--stop-after`, which is of `axiloom network run`"),
    ("network run net.mlir --input x.npz --seed 3", "--input: has the inputs; a --seed is of random ones"),
    (
        "network run net.mlir --layers changed --output never",
        "for --output all layers are simulated together",
    ),
    ("network run net.mlir --layers again --perfetto never", "for --perfetto all layers are simulated"),
    ("network run net.mlir --stop-after 1 --against cpu", "--against: --stop-after ends before what it has"),
    (
        "run matmul:8x8x8:int16 --accel v3_4 --against neon",
        "written for matmul:MxNxK and conv:... of int8 or",
    ),
    ("simulate x.elf --wait irq --os linux", "axiloom elf run has no option `--wait`"),
    ("simulate x.elf --keep never", "axiloom elf run has no option `--keep`, which is of `axiloom simulate`"),
    # a board on a serial line
    ("run matmul:4x4x4 --board ulx3s --wait irq", "axiloom serial run has no option `--wait`"),
    ("run loops.c --board ulx3s", "--board ulx3s: this is not for a board on a serial line"),
    ("run matmul:4x4x4 --board ulx3s --trace x.vcd", "--trace x.vcd: waveforms of ulx3s are FST"),
    (f"simulate {DRIVER} --board ulx3s --keep never", "axiloom serial simulate has no option `--keep`"),
    # simulations that do not take place, or elsewhere
    ("explore matmul:8x8x8 --jobs 2 --store never", "--jobs, --store: for simulations: give --confirm too"),
    ("explore matmul:8x8x8 --dask here:1", "--dask: for simulations"),
    ("explore matmul:8x8x8 --confirm 1 --jobs 2 --dask here:1", "--jobs: for local processes"),
    ("sweep matmul:8x8x8 --jobs 2 --dask here:1", "--jobs: for local processes"),
    ("bench fig10 --jobs 2 --dask here:1", "--jobs: for local processes"),
    ("explore matmul:8x8x8 --clock 50 --route", "no option `--clock`, which is of `axiloom hardware`"),
    # proofs
    ("prove spec --rtl x.v --top x", "no option `--rtl`, which is of `axiloom prove rtl`"),
    (
        "prove axi --list --limit 3 --json never",
        "--limit, --json: --list names the modules and proves nothing",
    ),
    # experiments
    ("bench fig10 --pipeline all --layers a", "--pipeline: fig10 has none; --layers: fig10 has none"),
    ("bench fig16 fig17 --sizes 16", "--sizes: fig16, fig17 has none"),
    ("bench fig12 --scale 2 --model x.mlir", "--scale: fig12 has none; --model: fig12 has none"),
    ("bench fig10 --sizes 16 --quick", "--quick: takes smaller sizes in fig10, and --sizes says which"),
    # others
    ("board build . --seeds 2", "--seeds: attempts at the clock of --clock"),
    (
        "calibrate --check --rounds 2 --output never",
        "--rounds, --output: --check compares the profile as it is",
    ),
    ("calibrate --check --update", "--update: --check compares the profile as it is"),
    ("validate x.py:f --accel vta --data x.npz --seed 3", "--seed: of sampled calls: give --replay too"),
    ("quantize x.py:f --calibration a.npz --seed 3", "--seed: of random calibration data"),
    ("board new ulx3s --accel v1_4,v3_4 -o never", "its open flow builds one accelerator, not v1_4, v3_4"),
    (
        "board new ulx3s --accel v1_4 --dma xilinx -o never",
        "no Vivado builds it, so Xilinx' DMA is not there",
    ),
    ("sweep matmul:8x8x8 --board nope", "board 'nope' is unknown"),
    ("explore matmul:8x8x8 --accel loopback", "loopback computes linalg.copy"),
    (f"compile matmul:8x8x8 --spec {SPEC} --calls 3", "--calls: for a choice, and nothing is chosen"),
    ("compile conv:10_8_3_8_1 --accel conv_v3 --flow best --tile 4,4,4", "tile: 4x4x4 has 3 sizes"),
]


@pytest.mark.every(4)
@pytest.mark.parametrize(("command", "message"), REFUSED, ids=[command for command, _ in REFUSED])
def test_it_is_refused(
    command: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert err.startswith("axiloom: ")
    assert err.count("\n") == 1
    assert not out
    assert not list(tmp_path.iterdir())


def test_a_network_on_a_convolution_engine_has_no_best(capsys: pytest.CaptureFixture[str]) -> None:
    network = Path(__file__).parents[2] / "tests" / "fixtures" / "imported" / "conv_residual.mlir"
    assert main(["run", str(network), "--accel", "conv_v4", "--flow", "best"]) == 2
    assert "--flow best: in a network the cost model chooses for matmuls" in capsys.readouterr().err


@pytest.mark.slow
def test_one_of_several_may_have_one_encoding(tmp_path: Path) -> None:
    output = tmp_path / "soc.v"
    command = ["verilog", "--accel", "loopback,v1_4", "--encoding", "literals", "-o", str(output)]
    assert main(command) == 0
    assert "module axiloom_soc" in output.read_text()


def test_what_is_not_given_is_not_there() -> None:
    assert set(keywords("verilog")) == {"asked"}
    assert keywords("verilog", "--part", "soc")["part"] == "soc"


@pytest.mark.parametrize("name", [name for name in experiments.NAMES if name != "fig17"])
def test_experiments_say_what_they_honour(name: str) -> None:
    """By what `cases` reads of the options; fig17 would need a network."""
    read: set[str] = set()

    class Watched(Options):
        def __getattribute__(self, field: str) -> object:
            read.add(field)
            return super().__getattribute__(field)

    experiment = experiments.find(name)
    experiment.cases(Watched(quick=True))
    fields = {*Options.__dataclass_fields__}
    assert read & fields == {"quick", "board", *experiment.takes}


def test_scale_counts_with_quick() -> None:
    assert "--scale" in {flag for option in paper.APPLET.options for flag in option.flags}
    cases = experiments.find("fig16").cases
    assert (
        cases(Options(quick=True, scale=2))[0].labels["problem"]
        != cases(Options(quick=True))[0].labels["problem"]
    )
