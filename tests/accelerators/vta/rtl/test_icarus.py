"""The same Verilog under Icarus, which computes with X where nothing is known: packets are those of the text,
twice in a row, with pauses, and after a reset in the middle."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.accelerators.vta.rtl.device_bench import TOP, Bench, Generator

from axiloom.cosim.build import icarus

BENCH = Bench(3, 8, 64, divided=32)
TEXT = """module bench;
  reg aclk = 0, aresetn = 0, offered = 0, ready = 0;
  reg [64:0] beats [0:{most}];  // the highest bit: a reset comes before
  integer at = 0, idle = 0, file, seed = {seed};
  wire tready, tvalid, tlast, busy, done;
  wire [63:0] tdata;
  wire [3:0] error;
  {top} dut (.aclk(aclk), .aresetn(aresetn), .s_axis_tdata(beats[at][63:0]), .s_axis_tvalid(offered),
    .s_axis_tready(tready), .s_axis_tlast(1'b0), .m_axis_tdata(tdata), .m_axis_tvalid(tvalid),
    .m_axis_tready(ready), .m_axis_tlast(tlast), .debug_busy(busy), .debug_error(error), .debug_done(done));
  always #5 aclk = ~aclk;
  always @(posedge aclk) if (aresetn) begin
    if (tvalid && ready) $fdisplay(file, "%b %h", tlast, tdata);
    if (offered && tready) begin at = at + 1; offered <= 0; end
    else if (!offered && at < {count}) offered <= $random(seed) % 4 != 0 && !beats[at][64];
    ready <= $random(seed) % 4 != 0;
    idle = (tvalid || busy || at < {count}) ? 0 : idle + 1;
  end
  initial begin
    $readmemh("beats", beats);
    file = $fopen("found");
    repeat (4) @(posedge aclk);
    #1 aresetn = 1;
    while (idle < 50) begin
      @(posedge aclk);
      #1 if (at < {count} && beats[at][64]) begin
        aresetn = 0; offered = 0; beats[at][64] = 0;
        repeat (4) @(posedge aclk);
        #1 aresetn = 1;
      end
    end
    $fclose(file);
    $display("error %b", error);
    $finish;
  end
endmodule
"""


def _ports(verilog: str) -> str:
    return verilog.partition(");")[0]


@pytest.mark.slow
def test_icarus(tmp_path: Path) -> None:
    simulator, beats, expected = BENCH.simulator(), [], []
    for seed in range(3):
        generator = Generator(BENCH, np.random.default_rng(seed))
        simulator.state["dram"][:] = generator.host()
        if seed == 2:
            cut, _ = BENCH.beats(generator.commands(4), BENCH.simulator())
            beats += cut[: len(cut) - 1]
            simulator.reset()
        commands = [*generator.commands(30), *generator.everything()]
        commands = commands if seed == 1 else [*generator.filled(), *commands]
        sent, stored = BENCH.beats(commands, simulator)
        beats += [sent[0] | (seed == 2) << 64, *sent[1:]]
        expected.append(stored)
    text = TEXT.format(top=TOP, most=len(beats), count=len(beats), seed=1)
    verilog = BENCH.verilog
    for port in ("s_axis_tlast",):
        if port not in _ports(verilog):
            text = text.replace(f".{port}(1'b0), ", "")
    program = icarus.build((("design.v", verilog), ("bench.v", text)), "bench") / icarus.PROGRAM
    (tmp_path / "beats").write_text("".join(f"{one:017x}\n" for one in [*beats, 0]))
    done = subprocess.run(
        [icarus.find()[1], program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "error 0000" in done.stdout
    packets, now = [], b""
    for line in (tmp_path / "found").read_text().splitlines():
        last, data = line.split()
        assert "x" not in line, line
        now += int(data, 16).to_bytes(8, "little")
        if last == "1":
            packets, now = [*packets, now], b""
    whole = [one for stored in (expected[0], expected[1]) for one in stored]
    assert packets[: len(whole)] == whole
    assert packets[len(packets) - len(expected[2]) :] == expected[2]
    assert not now
