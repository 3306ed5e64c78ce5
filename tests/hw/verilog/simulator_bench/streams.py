"""A program of words through an accelerator, with random gaps on both streams."""

import cocotb
from record import JOB, Bench

OUTPUTS = [
    ("s_axis_tready", []),
    ("m_axis_tvalid", ["m_axis_tdata", "m_axis_tlast"]),
    ("debug_compute", []),
    ("debug_error", []),
    ("debug_busy", []),
]
QUIET_CYCLES = 100


@cocotb.test()
async def words_go_through(dut):
    bench = Bench(dut, OUTPUTS)
    await bench.start(["s_axis_tvalid", "s_axis_tdata", "s_axis_tlast", "m_axis_tready"])
    words, sent, received, quiet = JOB["words"], 0, [], 0
    offered = False
    while quiet < QUIET_CYCLES:
        offered = sent < len(words) and (offered or not bench.stalls())
        ready = not bench.stalls()
        bench.set(s_axis_tvalid=offered, m_axis_tready=ready)
        if offered:
            bench.set(s_axis_tdata=words[sent], s_axis_tlast=sent == len(words) - 1)
        await bench.settled()
        quiet += 1
        if offered and bench.get("s_axis_tready"):
            sent, offered, quiet = sent + 1, False, 0
        if ready and bench.get("m_axis_tvalid"):
            received.append([bench.get("m_axis_tdata"), bench.get("m_axis_tlast")])
            quiet = 0
        await bench.edge()
    bench.finish(received=received, error=bench.get("debug_error"))
