"""A transfer through the DMA and its accelerator, memory with random stalls."""

from collections import deque

import cocotb
from record import JOB, Bench

AXI = ("addr", "len", "size", "burst")
OUTPUTS = [
    *[(f"s_axi_lite_{name}", []) for name in ("awready", "wready", "arready")],
    ("s_axi_lite_bvalid", ["s_axi_lite_bresp"]),
    ("s_axi_lite_rvalid", ["s_axi_lite_rdata", "s_axi_lite_rresp"]),
    ("m_axi_mm2s_arvalid", [f"m_axi_mm2s_ar{name}" for name in AXI]),
    ("m_axi_mm2s_rready", []),
    ("m_axi_s2mm_awvalid", [f"m_axi_s2mm_aw{name}" for name in AXI]),
    ("m_axi_s2mm_wvalid", [f"m_axi_s2mm_w{name}" for name in ("data", "strb", "last")]),
    ("m_axi_s2mm_bready", []),
    ("debug_in_tvalid", ["debug_in_tready", "debug_in_tdata", "debug_in_tlast"]),
    ("debug_out_tvalid", ["debug_out_tready", "debug_out_tdata", "debug_out_tlast"]),
    *[(name, []) for name in ("mm2s_introut", "s2mm_introut", "debug_idle", "debug_compute", "debug_error")],
    *[(name, []) for name in ("debug_mm2s_busy", "debug_s2mm_busy")],
]
_LITE = "awaddr awprot awvalid wdata wstrb wvalid bready araddr arprot arvalid rready"
INPUTS = [
    *[f"s_axi_lite_{name}" for name in _LITE.split()],
    *[f"m_axi_mm2s_{name}" for name in ("arready", "rdata", "rresp", "rlast", "rvalid")],
    *[f"m_axi_s2mm_{name}" for name in ("awready", "wready", "bresp", "bvalid")],
]
CYCLES = 1500


@cocotb.test()
async def words_go_round(dut):
    bench = Bench(dut, OUTPUTS)
    await bench.start(INPUTS)
    memory = {JOB["source"] + 4 * i: word for i, word in enumerate(JOB["words"])}
    accesses = deque(JOB["accesses"])  # [address, value], or [address] to read
    read, reads, writes, open_writes = [], deque(), deque(), deque()
    answers, busy, access = 0, False, None
    bench.set(s_axi_lite_bready=1, s_axi_lite_rready=1, s_axi_lite_wstrb=15)
    held = False  # the beat of R that is offered
    for _ in range(CYCLES):
        if not busy and accesses and not bench.stalls():
            access, busy = accesses.popleft(), True
            if len(access) == 2:
                bench.set(s_axi_lite_awvalid=1, s_axi_lite_awaddr=access[0])
                bench.set(s_axi_lite_wvalid=1, s_axi_lite_wdata=access[1])
            else:
                bench.set(s_axi_lite_arvalid=1, s_axi_lite_araddr=access[0])
        ready = {name: not bench.stalls() for name in ("mm2s_ar", "s2mm_aw", "s2mm_w")}
        bench.set(**{f"m_axi_{name}ready": value for name, value in ready.items()})
        held = bool(reads) and (held or not bench.stalls())
        bench.set(m_axi_mm2s_rvalid=held)
        if held:
            bench.set(m_axi_mm2s_rdata=memory[reads[0][0]], m_axi_mm2s_rlast=reads[0][1])
        bench.set(m_axi_s2mm_bvalid=answers > 0)

        await bench.settled()
        taken = {name: ready[name] and bench.get(f"m_axi_{name}valid") for name in ready}
        if taken["mm2s_ar"]:
            address, beats = bench.get("m_axi_mm2s_araddr"), bench.get("m_axi_mm2s_arlen") + 1
            reads.extend((address + 4 * i, i == beats - 1) for i in range(beats))
        if held and bench.get("m_axi_mm2s_rready"):
            reads.popleft()
            held = False
        if answers and bench.get("m_axi_s2mm_bready"):
            answers -= 1
        if taken["s2mm_aw"]:
            address, beats = bench.get("m_axi_s2mm_awaddr"), bench.get("m_axi_s2mm_awlen") + 1
            open_writes.extend(address + 4 * i for i in range(beats))
        if taken["s2mm_w"]:
            writes.append(bench.get("m_axi_s2mm_wdata"))
            answers += bench.get("m_axi_s2mm_wlast")
        while writes and open_writes:
            memory[open_writes.popleft()] = writes.popleft()
        accepted = {name: bench.get(f"s_axi_lite_{name}ready") for name in ("aw", "w", "ar")}
        if bench.get("s_axi_lite_rvalid"):
            read.append(bench.get("s_axi_lite_rdata"))
        if bench.get("s_axi_lite_rvalid") or bench.get("s_axi_lite_bvalid"):
            busy = False
        await bench.edge()
        bench.set(**{f"s_axi_lite_{name}valid": 0 for name, yes in accepted.items() if yes})
    target = [memory.get(JOB["target"] + 4 * i) for i in range(len(JOB["words"]))]
    bench.finish(read=read, written=target)
