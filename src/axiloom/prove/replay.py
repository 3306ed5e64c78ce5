"""A counter-example that can be run: words, a waveform, and a cocotb test that drives it into the RTL.

The test drives the bench's inputs as the prover chose them and looks at the property's output in each cycle.
The module stands beside the test as its source: the test fails on the RTL as it is, and passes on RTL that
keeps the rule in this run.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from axiloom.boards.synthesis import yosys
from axiloom.cosim.bench import run_cocotb
from axiloom.files import make_folder, write_whole
from axiloom.prove.bench import TOP, Bench, Property

BENCH, STIMULUS, TEST, WAVES = "axiloom_bench.v", "stimulus.json", "test_replay.py", "waves.vcd"

_TEST = '''"""{text}: a run in which that is not so, in cycle {cycle}.

Found by `axiloom prove`. `pytest {file}` runs it: it fails while the RTL breaks the rule.
"""

import json
from pathlib import Path

import cocotb
from cocotb.triggers import Timer

HERE = Path(__file__).parent
SOURCES = {sources}


@cocotb.test()
async def rule_is_kept(dut):
    dut.clock.value = 0
    for cycle, values in enumerate(json.loads((HERE / "{stimulus}").read_text())):
        for name, value in values.items():
            getattr(dut, name).value = value
        await Timer(5, "ns")
        broken = int(dut.{output}.value)
        dut.clock.value = 1
        await Timer(5, "ns")
        dut.clock.value = 0
        assert not broken, f"cycle {{cycle}}: {port}: {text} ({source})"


def test_replay():
    from axiloom.cosim.bench import run_cocotb

    run_cocotb([HERE / name for name in SOURCES], Path(__file__), top="{top}", short=True)
'''


def write(
    folder: Path,
    bench: Bench,
    prop: Property,
    stimulus: Sequence[dict[str, int]],
    sources: Sequence[tuple[str, str]] = (),
    parameters: Mapping[str, str] | None = None,
) -> bool:
    """Write the run to `folder`, with its waveform. True: the simulator shows the violation too.

    It may not where the counter-example begins with values in registers that nothing has reset.
    """
    make_folder(folder)
    for name, text in sources:
        write_whole(folder / name, text)
    (folder / "bench.il").write_text(bench.text, encoding="utf-8")
    chosen = "".join(f" -set {name} {value}" for name, value in (parameters or {}).items())
    script = "read_rtlil bench.il\nproc\nopt_clean\n"
    script += f"setparam{chosen} {TOP}/dut\n" if chosen else ""
    script += f"write_verilog -noattr {BENCH}\n"
    try:
        yosys.run(script, folder, "write the bench as Verilog")
    finally:
        for name in ("bench.il", "script.ys"):
            (folder / name).unlink(missing_ok=True)
    write_whole(
        folder / STIMULUS, json.dumps([_driven(bench, values) for values in stimulus], indent=1) + "\n"
    )
    files = [BENCH, *(name for name, _ in sources)]
    test = _TEST.format(
        text=prop.text.replace('"', "'"),
        cycle=len(stimulus) - 1,
        file=f"{folder.name}/{TEST}",
        sources=files,
        stimulus=STIMULUS,
        output=prop.output,
        port=prop.port,
        source=prop.source,
        top=TOP,
    )
    write_whole(folder / TEST, test)
    return not _passes(folder, files)


def _driven(bench: Bench, values: dict[str, int]) -> dict[str, int]:
    names = {signal.name for signal in bench.inputs}
    return {name: value for name, value in values.items() if name in names}


def _passes(folder: Path, files: Sequence[str]) -> bool:
    with contextlib.redirect_stdout(io.StringIO()):  # what cocotb says of a test that fails is no news here
        try:
            run_cocotb(
                [folder / name for name in files],
                folder / TEST,
                top=TOP,
                trace=folder / WAVES,
                internals=True,
                timeout_s=120,
                short=True,
            )
        except AssertionError:
            return False
    return True
