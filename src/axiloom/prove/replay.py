"""A counter-example that can be run: words, a waveform, and a cocotb test that drives it into the RTL.

The test drives the bench's inputs as the prover chose them and looks at the property's output in each cycle.
The module stands beside the test as its source: the test fails on the RTL as it is, and passes on RTL that
keeps the rule in this run.
"""

from __future__ import annotations

import contextlib
import io
import json
import runpy
from collections.abc import Mapping, Sequence
from pathlib import Path

from axiloom.base.files import make_folder, write_whole
from axiloom.boards.synthesis import yosys
from axiloom.prove.bench import TOP, Bench, Property

BENCH, STIMULUS, TEST, WAVES = "axiloom_bench.v", "stimulus.json", "test_replay.py", "waves.vcd"

_LOOPS = 4
"""Times that a loop is run."""

_RULE = """        assert not broken, f"cycle {{cycle}}: {port}: {text} ({source})"
"""
_AT_LAST = """        if cycle >= {loop} and not broken:
            return
    raise AssertionError("cycles {loop} to {last} again and again: {port}: {text} ({source})")
"""

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
{verdict}

def test_replay():
    from axiloom.cosim.bench import run_cocotb

    files = [HERE / name for name in SOURCES]
    run_cocotb(files, Path(__file__), top="{top}", trace=HERE / "{waves}", internals=True, short=True)
'''


def write(
    folder: Path,
    bench: Bench,
    prop: Property,
    stimulus: Sequence[dict[str, int]],
    sources: Sequence[tuple[str, str]] = (),
    loop: int | None = None,
    parameters: Mapping[str, str] | None = None,
) -> None:
    """Write the run to `folder`: the test, what it drives, and the Verilog of module and bench.

    `loop` is the cycle to which the last one goes back, of what is owed for ever; `parameters` are those of
    the module.
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
    last = len(stimulus) - (1 if loop is None else 2)
    if loop is not None:  # the last cycle is the first of the loop once more
        stimulus = [*stimulus[:loop], *[*stimulus[loop:-1]] * _LOOPS]
    driven = [_driven(bench, values) for values in stimulus]
    write_whole(folder / STIMULUS, json.dumps(driven, indent=1) + "\n")
    told = {"text": prop.text.replace('"', "'"), "port": prop.port, "source": prop.source}
    test = _TEST.format(
        text=told["text"],
        cycle=last,
        file=f"{folder.name}/{TEST}",
        sources=[BENCH, *(name for name, _ in sources)],
        stimulus=STIMULUS,
        waves=WAVES,
        output=prop.output,
        verdict=_RULE.format(**told) if loop is None else _AT_LAST.format(**told, loop=loop, last=last),
        top=TOP,
    )
    write_whole(folder / TEST, test)


def _driven(bench: Bench, values: dict[str, int]) -> dict[str, int]:
    names = {signal.name for signal in bench.inputs}
    return {name: value for name, value in values.items() if name in names}


def shows(folder: Path) -> bool:
    """Whether the simulator shows the violation that was written to `folder` too; it leaves the waveform.

    It may not where the counter-example begins with values in registers that nothing has reset.
    """
    with contextlib.redirect_stdout(io.StringIO()):  # what cocotb says of a test that fails is no news here
        try:
            runpy.run_path(str(folder / TEST))["test_replay"]()
        except AssertionError:
            return True
    return False
