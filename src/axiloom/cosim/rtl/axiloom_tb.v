// The world around the simulated SoC: a CPU as bus master, a memory, monitors, a watchdog.
//
// Python never runs per cycle. The CPU is a C function that returns its next bus access and how
// many fabric cycles lie before it; the memory is an array in C; Python sets `go`, waits for
// `done` and reads the `stat_` ports. Everything is counted in virtual time: `now` is fabric
// cycles since `go`. While nothing in the SoC can change state without a bus access
// (`debug_idle`) a delay of the CPU is one step of `now` instead of that many clock edges.
//
// The C functions are called by DPI under Verilator, under Icarus by the system tasks of axl_vpi.cpp.
//
// AXL_WIDTH is the width of streams and data ports; C sees a wide beat word by word, lowest first. With
// AXL_SG the DMA takes descriptors (PG021, scatter-gather mode) through a port of its own.
//
// AXL_MASTER is the width of the AXI4 master of a user's accelerator, where it has one.
//
// Ports are watched: handshakes by the modules of axl_watch.v, which stand in every channel, bursts by the core. The same
// modules hold channels up in a run under pauses (`cfg_stall`).
//
// AXL_DMAS is how many accelerators the SoC has, each with its DMA: probes, interrupts and what is counted or kept for
// the diagnosis are as wide, the first one's in the lowest bits. AXL_PAGES is then the upper halves of the DMAs'
// addresses, in the same order. Cycles are counted once: what any of them does is done.

`timescale 1ps / 1ps

`ifdef VERILATOR
 `define AXL_CPU_STEP(op, rdata, resp, irq, now, addr, wdata, delay) \
    op = axl_glue_cpu_step(rdata, resp, irq, now, addr, wdata, delay)
 `define AXL_MEM_READ(data, addr) data = axl_mem_read(addr)
 `define AXL_MEM_WRITE(addr, data, strb) axl_mem_write(addr, data, strb)
 `define AXL_MASTER_READ(data, addr) data = axl_master_read(addr)
 `define AXL_BURST(port, writes, addr, len, size, burst, bytes) axl_burst(port, writes, addr, len, size, burst, bytes, now)
 `define AXL_ANSWERED(port, writes) axl_answered(port, writes)
 `define AXL_LAST(port, writes, wrong) axl_last(port, writes, wrong, now)
 `define AXL_MASTER_WRITE(addr, data, strb) axl_master_write(addr, data, strb)
 `define AXL_STREAM_IN(word, last) axl_stream_in(word, last)
 `define AXL_STREAM_OUT(word, last) axl_stream_out(word, last)
 `define AXL_PROTOCOL_RESET axl_protocol_reset()
 `define AXL_ACTIVITY(now, bits) axl_activity(now, bits)
 `define AXL_CYCLE(now) axl_cycle(now)
 `define AXL_ACCELERATOR(number) axl_accelerator(number)
`else
 `define AXL_CPU_STEP(op, rdata, resp, irq, now, addr, wdata, delay) \
    $axl_cpu_step(op, rdata, resp, irq, now, addr, wdata, delay)
 `define AXL_MEM_READ(data, addr) $axl_mem_read(data, addr)
 `define AXL_MEM_WRITE(addr, data, strb) $axl_mem_write(addr, data, strb)
 `define AXL_MASTER_READ(data, addr) $axl_master_read(data, addr)
 `define AXL_BURST(port, writes, addr, len, size, burst, bytes) $axl_burst(port, writes, addr, len, size, burst, bytes, now)
 `define AXL_ANSWERED(port, writes) $axl_answered(port, writes)
 `define AXL_LAST(port, writes, wrong) $axl_last(port, writes, wrong, now)
 `define AXL_MASTER_WRITE(addr, data, strb) $axl_master_write(addr, data, strb)
 `define AXL_STREAM_IN(word, last) $axl_stream_in(word, last)
 `define AXL_STREAM_OUT(word, last) $axl_stream_out(word, last)
 `define AXL_PROTOCOL_RESET $axl_protocol_reset
 `define AXL_ACTIVITY(now, bits) $axl_activity(now, bits)
 `define AXL_CYCLE(now) $axl_cycle(now)
 `define AXL_ACCELERATOR(number) $axl_accelerator(number)
`endif

`ifndef AXL_WIDTH
 `define AXL_WIDTH 32
`endif
`ifndef AXL_DMAS
 `define AXL_DMAS 1
 `define AXL_PAGES 16'h0
`endif

module axiloom_tb (
    input  wire        clk_in,             // driven by main.cpp; Icarus makes its own
    // Set by the session before a job.
    input  wire        ctl_reset,          // holds SoC and memory slave in reset
    input  wire        ctl_go,             // 0: CPU stands, counters are zero; 1: runs
    input  wire [15:0] cfg_read_latency,   // cycles from a burst's address to its first word
    input  wire [15:0] cfg_write_latency,  // cycles from a burst's last word to its response
    input  wire [31:0] cfg_ram_bytes,      // outside: DECERR (the core reports it)
    input  wire [31:0] cfg_watchdog,       // cycles without progress that end the run
    input  wire [31:0] cfg_stall,          // seed of the pauses; 0: none
    input  wire        cfg_invert_reset,   // of a user's module
    // Read by the session after `done`.
    output reg         done,
    output reg  [3:0]  stat_outcome,       // OUTCOME_*
    output reg  [63:0] now,                // virtual time, fabric cycles since `go`
    output reg  [63:0] stat_skipped,       // of `now`: jumped over, never evaluated
    output reg  [63:0] stat_compute,
    output reg  [63:0] stat_load,
    output reg  [63:0] stat_store,
    output reg  [63:0] stat_dma_wait,
    output reg  [63:0] stat_idle,
    output reg  [64*`AXL_DMAS-1:0] stat_words_in,
    output reg  [64*`AXL_DMAS-1:0] stat_words_out,
    output reg  [64*`AXL_DMAS-1:0] stat_transfers_in,
    output reg  [64*`AXL_DMAS-1:0] stat_transfers_out,
    output reg  [64*`AXL_DMAS-1:0] stat_computing,  // as stat_compute, of each; only where there are several
    output reg  [63:0] stat_mmio_reads,
    output reg  [63:0] stat_mmio_writes,
    output reg  [63:0] stat_polls,
    // For the diagnosis of a hang.
    output reg  [32*`AXL_DMAS-1:0] stat_mm2s_dmasr,
    output reg  [32*`AXL_DMAS-1:0] stat_s2mm_dmasr,
    output reg  [32*`AXL_DMAS-1:0] stat_mm2s_length,  // last LENGTH written, bytes; with AXL_SG: CURDESC
    output reg  [32*`AXL_DMAS-1:0] stat_s2mm_length,
    output reg  [32*`AXL_DMAS-1:0] stat_mm2s_words,   // over the stream since then; with AXL_SG: of the descriptor
    output reg  [32*`AXL_DMAS-1:0] stat_s2mm_words,
    output wire [4*`AXL_DMAS-1:0]  stat_error,
    output wire [4*`AXL_DMAS-1:0]  stat_in_flags,     // {tvalid, tready, tlast, MM2S busy}
    output wire [4*`AXL_DMAS-1:0]  stat_out_flags,    // {tvalid, tready, tlast, S2MM busy}
    output wire [31:0] skip                // cycles that `now` jumps over at the next edge, for waveforms
);

`ifdef VERILATOR
  import "DPI-C" function int axl_glue_cpu_step(
      input int rdata, input int resp, input int irq, input longint now,
      output int addr, output int wdata, output int delay);
  import "DPI-C" function int axl_mem_read(input int addr);
  import "DPI-C" function void axl_mem_write(input int addr, input int data, input int strb);
`ifdef AXL_MASTER
  import "DPI-C" function int axl_master_read(input int addr);
  import "DPI-C" function void axl_master_write(input int addr, input int data, input int strb);
`endif
  import "DPI-C" function void axl_stream_in(input int word, input int last);
  import "DPI-C" function void axl_stream_out(input int word, input int last);
  import "DPI-C" function void axl_burst(input int port, input int writes, input int addr, input int len, input int size,
                                         input int burst, input int bytes, input longint now);
  import "DPI-C" function void axl_answered(input int port, input int writes);
  import "DPI-C" function void axl_last(input int port, input int writes, input int wrong, input longint now);
  import "DPI-C" function void axl_protocol_reset();
  import "DPI-C" function void axl_activity(input longint now, input int bits);
  import "DPI-C" function void axl_cycle(input longint now);
  import "DPI-C" function void axl_accelerator(input int number);
  wire clk = clk_in;
`else
  // Icarus has no main of ours: the clock is made here, and a jump of virtual time is a long low
  // phase, so that a waveform's time is virtual time on both simulators.
  reg clk;
  integer period;
  initial begin
    if (!$value$plusargs("axl_period_ps=%d", period)) period = 10000;
    clk = 0;
    forever begin
      #(period - period / 2) clk = 0;
      #(period / 2);
      if (skip != 0) #({32'b0, skip} * period);
      clk = 1;
    end
  end
`endif

  localparam [3:0] OUTCOME_RUNNING = 0, OUTCOME_HALT = 1, OUTCOME_STALL = 2,
                   OUTCOME_NO_IRQ = 3, OUTCOME_DEVICE_ERROR = 4;
  // Operations of axl_cpu_step.
  localparam integer OP_HALT = 0, OP_READ = 1, OP_WRITE = 2, OP_WAIT_IRQ = 3, OP_ADVANCE = 4, OP_SLEEP = 5;
  localparam [2:0] CPU_STEP = 0, CPU_DELAY = 1, CPU_READ = 2, CPU_WRITE = 3, CPU_WAIT_IRQ = 4,
                   CPU_AUTOPSY = 5, CPU_HALT = 6;
`ifdef AXL_FIFO
  // An AXI4-Stream FIFO (AMD PG080) is in the DMA's place: TLR begins a transfer, SRR resets the streams, TDFV and RDFO say
  // where it stands. There is nothing to begin a receive with.
  localparam [9:0] NOWHERE = 10'h3FF, MM2S_LENGTH = 10'h014, S2MM_LENGTH = NOWHERE;
  localparam [9:0] MM2S_DMACR = 10'h028, S2MM_DMACR = NOWHERE, MM2S_DMASR = 10'h00C, S2MM_DMASR = 10'h01C;
  localparam integer DMACR_RESET = 2;  // of 0xA5
`else
`include "axl_dma_registers.vh"
`endif
  // A transfer begins with a write of LENGTH, or of TAILDESC.
`ifdef AXL_SG
  localparam [9:0] MM2S_BEGIN = MM2S_TAILDESC, S2MM_BEGIN = S2MM_TAILDESC;
`else
  localparam [9:0] MM2S_BEGIN = MM2S_LENGTH, S2MM_BEGIN = S2MM_LENGTH;
`endif
  localparam [31:0] NO_REGISTER = 32'hFFFF_FFFF;
  localparam [1:0] DECERR = 2'b11;
  localparam integer WIDTH = `AXL_WIDTH, LANES = WIDTH / 32;  // words of a beat
  localparam integer DMAS = `AXL_DMAS;
`ifdef AXL_REGISTERS
  localparam integer ADDRESS = 16;                            // the accelerator's own are in the upper half
`else
  localparam integer ADDRESS = DMAS == 1 ? 10 : 32;           // bits of the registers' port
`endif
  localparam [16*DMAS-1:0] PAGES = `AXL_PAGES;

  // --- the SoC --------------------------------------------------------------------------------

  reg  [ADDRESS-1:0] awaddr, araddr;
  reg         awvalid, wvalid, bready, arvalid, rready;
  reg  [31:0] wdata;
  wire        awready, wready, bvalid, arready, rvalid;
  wire [1:0]  bresp, rresp;
  wire [31:0] rdata;

  wire [31:0] mm2s_araddr;
  wire [7:0]  mm2s_arlen;
  wire        mm2s_arvalid, mm2s_rready;
  reg  [WIDTH-1:0] mm2s_rdata;
  reg  [1:0]  mm2s_rresp;
  reg         mm2s_rlast, mm2s_rvalid;

  wire [31:0] s2mm_awaddr;
  wire [WIDTH-1:0]   s2mm_wdata;
  wire [7:0]  s2mm_awlen;
  wire [WIDTH/8-1:0] s2mm_wstrb;
  wire        s2mm_awvalid, s2mm_wlast, s2mm_wvalid, s2mm_bready;
  reg  [1:0]  s2mm_bresp;
  reg         s2mm_bvalid;

  wire        debug_idle;
  wire [DMAS-1:0] mm2s_introut, s2mm_introut;
  wire [WIDTH*DMAS-1:0] in_tdata, out_tdata;
  wire [DMAS-1:0] in_tvalid, in_tready, in_tlast, out_tvalid, out_tready, out_tlast;
  wire [DMAS-1:0] debug_compute, debug_mm2s_busy, debug_s2mm_busy;
  wire [4*DMAS-1:0] debug_error;

  // What nothing here depends on.
  wire [2:0]  unused_arprot, unused_awprot;
  wire [2:0]  mm2s_arsize, s2mm_awsize;
  wire [1:0]  mm2s_arburst, s2mm_awburst;
  wire [3:0]  unused_arcache, unused_awcache;

  wire mm2s_arready, s2mm_awready, s2mm_wready;

`ifdef AXL_SG
  wire [31:0] sg_araddr, sg_awaddr;
  wire [63:0] sg_wdata;
  wire [7:0]  sg_arlen, sg_awlen;
  wire [7:0]  sg_wstrb;
  wire        sg_arvalid, sg_arready, sg_rready, sg_awvalid, sg_awready, sg_wvalid, sg_wready, sg_wlast, sg_bready;
  reg  [63:0] sg_rdata;
  reg  [1:0]  sg_rresp, sg_bresp;
  reg         sg_rlast, sg_rvalid, sg_bvalid;
  wire [2:0]  sg_arsize, unused_sg_arprot, sg_awsize, unused_sg_awprot;
  wire [1:0]  sg_arburst, sg_awburst;
  wire [3:0]  unused_sg_arcache, unused_sg_awcache;
  wire [DMAS-1:0] debug_mm2s_done, debug_s2mm_done;
`endif

`ifdef AXL_MASTER
  wire [31:0] um_araddr, um_awaddr;
  wire [7:0]  um_arlen, um_awlen;
  wire        um_arvalid, um_arready, um_rready, um_awvalid, um_awready, um_wvalid, um_wready, um_wlast, um_bready;
  reg  [`AXL_MASTER-1:0] um_rdata;
  wire [`AXL_MASTER-1:0] um_wdata;
  wire [`AXL_MASTER/8-1:0] um_wstrb;
  reg  [1:0]  um_rresp, um_bresp;
  reg         um_rlast, um_rvalid, um_bvalid;
  wire [2:0]  um_arsize, unused_um_arprot, um_awsize, unused_um_awprot;
  wire [1:0]  um_arburst, um_awburst;
  wire [3:0]  unused_um_arcache, unused_um_awcache;
`endif

  // --- the channels, each with its watch -----------------------------------------------------------------------------

  localparam integer PORT_REGISTERS = 0, PORT_MM2S = 1, PORT_S2MM = 2, PORT_SG = 3, PORT_MASTER = 33;
  localparam integer AR = 1, R = 2, AW = 3, W = 4, B = 5;
  reg stalling;  // pauses are made now
  reg pausing;   // ... or have been until now, or are to begin
  initial begin
    stalling = 1'b0;
    pausing  = 1'b1;
  end

  // At the SoC's own ports; without `soc_` they are at the other side of the watch.
  wire soc_lite_awvalid, soc_lite_awready, soc_lite_wvalid, soc_lite_wready, soc_lite_bvalid, soc_lite_bready;
  wire soc_lite_arvalid, soc_lite_arready, soc_lite_rvalid, soc_lite_rready;
  wire soc_mm2s_arvalid, soc_mm2s_arready, soc_mm2s_rvalid, soc_mm2s_rready;
  wire soc_s2mm_awvalid, soc_s2mm_awready, soc_s2mm_wvalid, soc_s2mm_wready, soc_s2mm_bvalid, soc_s2mm_bready;
  axl_channel #(.PORT(PORT_REGISTERS), .CHANNEL(AW), .WIDTH(ADDRESS), .RULES(0)) watch_lite_aw (
      .clk(clk), .reset(ctl_reset), .hold(1'b0), .payload(awaddr),
      .valid(awvalid), .ready(awready), .valid_out(soc_lite_awvalid), .ready_in(soc_lite_awready));
  axl_channel #(.PORT(PORT_REGISTERS), .CHANNEL(W), .WIDTH(32), .RULES(0)) watch_lite_w (
      .clk(clk), .reset(ctl_reset), .hold(1'b0), .payload(wdata),
      .valid(wvalid), .ready(wready), .valid_out(soc_lite_wvalid), .ready_in(soc_lite_wready));
  axl_channel #(.PORT(PORT_REGISTERS), .CHANNEL(B), .WIDTH(2), .RULES(2)) watch_lite_b (
      .clk(clk), .reset(ctl_reset), .hold(1'b0), .payload(bresp),
      .valid(soc_lite_bvalid), .ready(soc_lite_bready), .valid_out(bvalid), .ready_in(bready));
  axl_channel #(.PORT(PORT_REGISTERS), .CHANNEL(AR), .WIDTH(ADDRESS), .RULES(0)) watch_lite_ar (
      .clk(clk), .reset(ctl_reset), .hold(1'b0), .payload(araddr),
      .valid(arvalid), .ready(arready), .valid_out(soc_lite_arvalid), .ready_in(soc_lite_arready));
  axl_channel #(.PORT(PORT_REGISTERS), .CHANNEL(R), .WIDTH(34), .RULES(2)) watch_lite_r (
      .clk(clk), .reset(ctl_reset), .hold(1'b0), .payload({rdata, rresp}),
      .valid(soc_lite_rvalid), .ready(soc_lite_rready), .valid_out(rvalid), .ready_in(rready));
  axl_channel #(.PORT(PORT_MM2S), .CHANNEL(AR), .WIDTH(45), .RULES(2)) watch_mm2s_ar (
      .clk(clk), .reset(ctl_reset), .hold(1'b0), .payload({mm2s_araddr, mm2s_arlen, mm2s_arsize, mm2s_arburst}),
      .valid(soc_mm2s_arvalid), .ready(soc_mm2s_arready), .valid_out(mm2s_arvalid), .ready_in(mm2s_arready));
  axl_channel #(.PORT(PORT_MM2S), .CHANNEL(R), .WIDTH(WIDTH + 3), .RULES(0)) watch_mm2s_r (
      .clk(clk), .reset(ctl_reset), .hold(1'b0), .payload({mm2s_rdata, mm2s_rresp, mm2s_rlast}),
      .valid(mm2s_rvalid), .ready(mm2s_rready), .valid_out(soc_mm2s_rvalid), .ready_in(soc_mm2s_rready));
  axl_channel #(.PORT(PORT_S2MM), .CHANNEL(AW), .WIDTH(45), .RULES(2)) watch_s2mm_aw (
      .clk(clk), .reset(ctl_reset), .hold(1'b0), .payload({s2mm_awaddr, s2mm_awlen, s2mm_awsize, s2mm_awburst}),
      .valid(soc_s2mm_awvalid), .ready(soc_s2mm_awready), .valid_out(s2mm_awvalid), .ready_in(s2mm_awready));
  axl_channel #(.PORT(PORT_S2MM), .CHANNEL(W), .WIDTH(WIDTH + WIDTH / 8 + 1), .RULES(2)) watch_s2mm_w (
      .clk(clk), .reset(ctl_reset), .hold(1'b0), .payload({s2mm_wdata, s2mm_wstrb, s2mm_wlast}),
      .valid(soc_s2mm_wvalid), .ready(soc_s2mm_wready), .valid_out(s2mm_wvalid), .ready_in(s2mm_wready));
  axl_channel #(.PORT(PORT_S2MM), .CHANNEL(B), .WIDTH(2), .RULES(0)) watch_s2mm_b (
      .clk(clk), .reset(ctl_reset), .hold(1'b0), .payload(s2mm_bresp),
      .valid(s2mm_bvalid), .ready(s2mm_bready), .valid_out(soc_s2mm_bvalid), .ready_in(soc_s2mm_bready));
`ifdef AXL_SG
  wire soc_sg_awvalid, soc_sg_awready, soc_sg_wvalid, soc_sg_wready, soc_sg_bvalid, soc_sg_bready;
  wire soc_sg_arvalid, soc_sg_arready, soc_sg_rvalid, soc_sg_rready;
  axl_channel #(.PORT(PORT_SG), .CHANNEL(AR), .WIDTH(45), .RULES(2)) watch_sg_ar (
      .clk(clk), .reset(ctl_reset), .hold(1'b0), .payload({sg_araddr, sg_arlen, sg_arsize, sg_arburst}),
      .valid(soc_sg_arvalid), .ready(soc_sg_arready), .valid_out(sg_arvalid), .ready_in(sg_arready));
  axl_channel #(.PORT(PORT_SG), .CHANNEL(R), .WIDTH(67), .RULES(0)) watch_sg_r (
      .clk(clk), .reset(ctl_reset), .hold(1'b0), .payload({sg_rdata, sg_rresp, sg_rlast}),
      .valid(sg_rvalid), .ready(sg_rready), .valid_out(soc_sg_rvalid), .ready_in(soc_sg_rready));
  axl_channel #(.PORT(PORT_SG), .CHANNEL(AW), .WIDTH(45), .RULES(2)) watch_sg_aw (
      .clk(clk), .reset(ctl_reset), .hold(1'b0), .payload({sg_awaddr, sg_awlen, sg_awsize, sg_awburst}),
      .valid(soc_sg_awvalid), .ready(soc_sg_awready), .valid_out(sg_awvalid), .ready_in(sg_awready));
  axl_channel #(.PORT(PORT_SG), .CHANNEL(W), .WIDTH(73), .RULES(2)) watch_sg_w (
      .clk(clk), .reset(ctl_reset), .hold(1'b0), .payload({sg_wdata, sg_wstrb, sg_wlast}),
      .valid(soc_sg_wvalid), .ready(soc_sg_wready), .valid_out(sg_wvalid), .ready_in(sg_wready));
  axl_channel #(.PORT(PORT_SG), .CHANNEL(B), .WIDTH(2), .RULES(0)) watch_sg_b (
      .clk(clk), .reset(ctl_reset), .hold(1'b0), .payload(sg_bresp),
      .valid(sg_bvalid), .ready(sg_bready), .valid_out(soc_sg_bvalid), .ready_in(soc_sg_bready));
`endif

  axiloom_soc soc (
`ifdef AXL_MASTER
      .m_axi_user_araddr(um_araddr), .m_axi_user_arlen(um_arlen), .m_axi_user_arsize(um_arsize),
      .m_axi_user_arburst(um_arburst), .m_axi_user_arprot(unused_um_arprot),
      .m_axi_user_arcache(unused_um_arcache), .m_axi_user_arvalid(um_arvalid), .m_axi_user_arready(um_arready),
      .m_axi_user_rdata(um_rdata), .m_axi_user_rresp(um_rresp), .m_axi_user_rlast(um_rlast),
      .m_axi_user_rvalid(um_rvalid), .m_axi_user_rready(um_rready),
      .m_axi_user_awaddr(um_awaddr), .m_axi_user_awlen(um_awlen), .m_axi_user_awsize(um_awsize),
      .m_axi_user_awburst(um_awburst), .m_axi_user_awprot(unused_um_awprot),
      .m_axi_user_awcache(unused_um_awcache), .m_axi_user_awvalid(um_awvalid), .m_axi_user_awready(um_awready),
      .m_axi_user_wdata(um_wdata), .m_axi_user_wstrb(um_wstrb), .m_axi_user_wlast(um_wlast),
      .m_axi_user_wvalid(um_wvalid), .m_axi_user_wready(um_wready), .m_axi_user_bresp(um_bresp),
      .m_axi_user_bvalid(um_bvalid), .m_axi_user_bready(um_bready),
`endif
`ifdef AXL_SG
      .m_axi_sg_araddr(sg_araddr), .m_axi_sg_arlen(sg_arlen), .m_axi_sg_arsize(sg_arsize),
      .m_axi_sg_arburst(sg_arburst), .m_axi_sg_arprot(unused_sg_arprot),
      .m_axi_sg_arcache(unused_sg_arcache), .m_axi_sg_arvalid(soc_sg_arvalid), .m_axi_sg_arready(soc_sg_arready),
      .m_axi_sg_rdata(sg_rdata), .m_axi_sg_rresp(sg_rresp), .m_axi_sg_rlast(sg_rlast),
      .m_axi_sg_rvalid(soc_sg_rvalid), .m_axi_sg_rready(soc_sg_rready),
      .m_axi_sg_awaddr(sg_awaddr), .m_axi_sg_awlen(sg_awlen), .m_axi_sg_awsize(sg_awsize),
      .m_axi_sg_awburst(sg_awburst), .m_axi_sg_awprot(unused_sg_awprot),
      .m_axi_sg_awcache(unused_sg_awcache), .m_axi_sg_awvalid(soc_sg_awvalid), .m_axi_sg_awready(soc_sg_awready),
      .m_axi_sg_wdata(sg_wdata), .m_axi_sg_wstrb(sg_wstrb), .m_axi_sg_wlast(sg_wlast),
      .m_axi_sg_wvalid(soc_sg_wvalid), .m_axi_sg_wready(soc_sg_wready), .m_axi_sg_bresp(sg_bresp),
      .m_axi_sg_bvalid(soc_sg_bvalid), .m_axi_sg_bready(soc_sg_bready),
      .debug_mm2s_done(debug_mm2s_done), .debug_s2mm_done(debug_s2mm_done),
`endif
      .aclk(clk), .aresetn(!ctl_reset),
      .s_axi_lite_awaddr(awaddr), .s_axi_lite_awprot(3'b000), .s_axi_lite_awvalid(soc_lite_awvalid),
      .s_axi_lite_awready(soc_lite_awready), .s_axi_lite_wdata(wdata), .s_axi_lite_wstrb(4'b1111),
      .s_axi_lite_wvalid(soc_lite_wvalid), .s_axi_lite_wready(soc_lite_wready), .s_axi_lite_bresp(bresp),
      .s_axi_lite_bvalid(soc_lite_bvalid), .s_axi_lite_bready(soc_lite_bready), .s_axi_lite_araddr(araddr),
      .s_axi_lite_arprot(3'b000), .s_axi_lite_arvalid(soc_lite_arvalid), .s_axi_lite_arready(soc_lite_arready),
      .s_axi_lite_rdata(rdata), .s_axi_lite_rresp(rresp), .s_axi_lite_rvalid(soc_lite_rvalid),
      .s_axi_lite_rready(soc_lite_rready),
      .m_axi_mm2s_araddr(mm2s_araddr), .m_axi_mm2s_arlen(mm2s_arlen),
      .m_axi_mm2s_arsize(mm2s_arsize), .m_axi_mm2s_arburst(mm2s_arburst),
      .m_axi_mm2s_arprot(unused_arprot), .m_axi_mm2s_arcache(unused_arcache),
      .m_axi_mm2s_arvalid(soc_mm2s_arvalid), .m_axi_mm2s_arready(soc_mm2s_arready),
      .m_axi_mm2s_rdata(mm2s_rdata), .m_axi_mm2s_rresp(mm2s_rresp), .m_axi_mm2s_rlast(mm2s_rlast),
      .m_axi_mm2s_rvalid(soc_mm2s_rvalid), .m_axi_mm2s_rready(soc_mm2s_rready),
      .m_axi_s2mm_awaddr(s2mm_awaddr), .m_axi_s2mm_awlen(s2mm_awlen),
      .m_axi_s2mm_awsize(s2mm_awsize), .m_axi_s2mm_awburst(s2mm_awburst),
      .m_axi_s2mm_awprot(unused_awprot), .m_axi_s2mm_awcache(unused_awcache),
      .m_axi_s2mm_awvalid(soc_s2mm_awvalid), .m_axi_s2mm_awready(soc_s2mm_awready),
      .m_axi_s2mm_wdata(s2mm_wdata), .m_axi_s2mm_wstrb(s2mm_wstrb), .m_axi_s2mm_wlast(s2mm_wlast),
      .m_axi_s2mm_wvalid(soc_s2mm_wvalid), .m_axi_s2mm_wready(soc_s2mm_wready),
      .m_axi_s2mm_bresp(s2mm_bresp), .m_axi_s2mm_bvalid(soc_s2mm_bvalid),
      .m_axi_s2mm_bready(soc_s2mm_bready),
      .mm2s_introut(mm2s_introut), .s2mm_introut(s2mm_introut), .debug_idle(debug_idle),
      .debug_in_tdata(in_tdata), .debug_in_tvalid(in_tvalid), .debug_in_tready(in_tready),
      .debug_in_tlast(in_tlast), .debug_out_tdata(out_tdata), .debug_out_tvalid(out_tvalid),
      .debug_out_tready(out_tready), .debug_out_tlast(out_tlast),
      .debug_compute(debug_compute), .debug_error(debug_error),
      .debug_mm2s_busy(debug_mm2s_busy), .debug_s2mm_busy(debug_s2mm_busy)
  );

  assign stat_error     = debug_error;

  `include "axl_memory.vh"
  `include "axl_master.vh"
  wire all_quiet = memory_quiet && master_quiet;

  // --- the CPU as a master of AXI-Lite ----------------------------------------------------------

  reg  [2:0]  cpu, cpu_next;
  reg  [31:0] wait_left;
  reg         computing;       // the delay is the CPU's own work, not the way to a bus access
  reg         sleeping;        // it ends when the interrupt lines differ from access_data
  reg         quiet;           // debug_idle was up a cycle ago too: no register write is settling
  reg  [31:0] access_addr, access_data;
  reg  [31:0] polled, polled_before;  // status registers that the last two accesses read; NO_REGISTER: others
  reg  [31:0] cpu_rdata;
  reg  [1:0]  cpu_resp;
  reg  [DMAS-1:0] was_reset;   // by the driver, through DMACR, and no transfer since
  reg  [1:0] write_busy;       // {S2MM, MM2S} of the DMA that a register was written of: under way at that cycle
  reg  [31:0] stalled;
  reg  [8:0]  autopsy_left;
  reg  [5:0]  autopsy_step;
  integer     op, step_addr, step_data, step_delay, word, lane, dma;

  wire [DMAS-1:0] in_beat  = in_tvalid & in_tready;
  wire [DMAS-1:0] out_beat = out_tvalid & out_tready;
`ifdef AXL_SG
  wire [DMAS-1:0] mm2s_done = debug_mm2s_done, s2mm_done = debug_s2mm_done;
`else
  wire [DMAS-1:0] mm2s_done = 0, s2mm_done = 0;
`endif
  // What the hardware does in this cycle (AXL_BIT_* of axl_profile.h); the core is told when it changes, and of
  // every end of a descriptor: those of one beat end in cycles behind each other.
  reg  [8*DMAS-1:0]  activity_told;
  wire [8*DMAS-1:0]  activity;
  wire [31:0] lines;           // interrupts: MM2S, S2MM of each DMA
  assign lines[31:2*DMAS] = 0;
  genvar g;
  generate
    for (g = 0; g < DMAS; g = g + 1) begin : each
      assign activity[8*g +: 8] = {s2mm_done[g], mm2s_done[g], debug_s2mm_busy[g], debug_mm2s_busy[g], out_beat[g] || master_writes,
                                   in_tvalid[g] || master_reads, in_beat[g] || master_reads, debug_compute[g]};
      assign lines[2*g +: 2] = {s2mm_introut[g], mm2s_introut[g]};
      assign stat_in_flags[4*g +: 4]  = {in_tvalid[g], in_tready[g], in_tlast[g], debug_mm2s_busy[g]};
      assign stat_out_flags[4*g +: 4] = {out_tvalid[g], out_tready[g], out_tlast[g], debug_s2mm_busy[g]};
    end
  endgenerate
  wire write_taken = cpu == CPU_WRITE && awvalid && awready;
  wire busy     = debug_mm2s_busy != 0 || debug_s2mm_busy != 0;
  wire irq      = lines != 0;
  wire woken    = sleeping && lines[15:0] != access_data[15:0];
  wire running  = ctl_go && stat_outcome == OUTCOME_RUNNING;
  wire jump     = running && cpu == CPU_DELAY && quiet && debug_idle && all_quiet && !woken && $signed(wait_left) > 1;
  wire [31:0] step_cycles = jump ? wait_left : 32'd1;
`ifdef AXL_SG
  wire status_read = araddr[9:0] == MM2S_DMASR || araddr[9:0] == S2MM_DMASR || araddr[9:0] == MM2S_CURDESC ||
                     araddr[9:0] == S2MM_CURDESC;
`else
  wire status_read = araddr[9:0] == MM2S_DMASR || araddr[9:0] == S2MM_DMASR;
`endif
  wire lite_done = (cpu == CPU_READ && rvalid && rready) || (cpu == CPU_WRITE && bvalid && bready);
  // A run ends between accesses, so that the autopsy's reads are the only ones in flight, unless
  // the access itself is what never ends.
  wire mid_access   = cpu == CPU_READ || cpu == CPU_WRITE;
  wire stuck_access = stalled >= cfg_watchdog + 32'd1024;
  wire waiting   = cpu == CPU_WAIT_IRQ || cpu == CPU_READ || cpu == CPU_WRITE || (busy && !computing);

  assign skip = jump ? wait_left - 32'd1 : 32'd0;

  // With one DMA the upper half of the range is the accelerator's.
  // Is this address one of the registers of this DMA?
  function hits(input [31:0] address, input integer number);
    hits = DMAS == 1 ? !address[15] : address[31:16] == PAGES[16*number +: 16];
  endfunction

  // Steps of the autopsy: the registers of the first DMA, then of the next one. Where there are several they take longer.
`ifdef AXL_SG
  localparam [2:0] AUTOPSY_READS = 3'd4;
`else
  localparam [2:0] AUTOPSY_READS = 3'd2;
`endif
  localparam [5:0] AUTOPSY_END = AUTOPSY_READS * DMAS - 1;
  localparam [8:0] AUTOPSY_CYCLES = DMAS == 1 ? 127 : 511;
  function [31:0] autopsy_address(input [5:0] step);
    begin
      case (step % AUTOPSY_READS)
        0: autopsy_address = MM2S_DMASR;
        1: autopsy_address = S2MM_DMASR;
`ifdef AXL_SG
        2: autopsy_address = MM2S_CURDESC;
        default: autopsy_address = S2MM_CURDESC;
`else
        default: autopsy_address = 32'd0;
`endif
      endcase
      autopsy_address = autopsy_address | {PAGES[16 * ((step / AUTOPSY_READS) % DMAS) +: 16], 16'h0};
    end
  endfunction

  // One process makes every call into C, in one order: memory, streams, CPU. What the CPU does
  // at an edge comes after what the DMA does at it, on every simulator.
  always @(posedge clk) begin
`ifdef AXL_PAUSES
    // The first 32,768 cycles are under pauses, then an eighth of them: a long run costs little more.
    stalling <= cfg_stall != 0 && running && (tick[31:15] == 0 || tick[13:11] == cfg_stall[2:0]);
    pausing  <= cfg_stall != 0 || !ctl_go;
`endif
    memory_step;
    master_step;

    // Streams and counters.
    if (running) begin
`ifdef AXL_INSPECT
      `AXL_CYCLE(now);
`endif
      // All of them first: the core accounts for the cycles before this one at the first word that it is told of.
      for (dma = 0; dma < DMAS; dma = dma + 1) begin
        if (activity[8*dma +: 8] != activity_told[8*dma +: 8] || mm2s_done[dma] || s2mm_done[dma]) begin
          if (DMAS > 1) `AXL_ACCELERATOR(dma);
          `AXL_ACTIVITY(now, {24'b0, activity[8*dma +: 8]});
          activity_told[8*dma +: 8] <= activity[8*dma +: 8];
        end
      end
      for (dma = 0; dma < DMAS; dma = dma + 1) begin
        if (DMAS > 1 && (in_beat[dma] || out_beat[dma])) `AXL_ACCELERATOR(dma);
        if (in_beat[dma]) begin
          for (lane = 0; lane < LANES; lane = lane + 1) begin
            word = in_tdata[WIDTH*dma + 32*lane +: 32];
            `AXL_STREAM_IN(word, {31'b0, in_tlast[dma] && lane == LANES - 1});
          end
          stat_words_in[64*dma +: 64]   <= stat_words_in[64*dma +: 64] + LANES;
          stat_mm2s_words[32*dma +: 32] <= stat_mm2s_words[32*dma +: 32] + LANES;
        end
        if (out_beat[dma]) begin
          for (lane = 0; lane < LANES; lane = lane + 1) begin
            word = out_tdata[WIDTH*dma + 32*lane +: 32];
            `AXL_STREAM_OUT(word, {31'b0, out_tlast[dma] && lane == LANES - 1});
          end
          stat_words_out[64*dma +: 64]  <= stat_words_out[64*dma +: 64] + LANES;
          stat_s2mm_words[32*dma +: 32] <= stat_s2mm_words[32*dma +: 32] + LANES;
        end
        // With the last word of a descriptor.
        if (mm2s_done[dma]) begin
          stat_transfers_in[64*dma +: 64] <= stat_transfers_in[64*dma +: 64] + 64'd1;
          stat_mm2s_words[32*dma +: 32]   <= 32'd0;
        end
        if (s2mm_done[dma]) begin
          stat_transfers_out[64*dma +: 64] <= stat_transfers_out[64*dma +: 64] + 64'd1;
          stat_s2mm_words[32*dma +: 32]    <= 32'd0;
        end
        if (DMAS > 1 && debug_compute[dma]) stat_computing[64*dma +: 64] <= stat_computing[64*dma +: 64] + 64'd1;
      end
      if (master_reads) stat_words_in <= stat_words_in + MASTER_LANES;
      if (master_writes) stat_words_out <= stat_words_out + MASTER_LANES;
      now <= now + {32'b0, step_cycles};
      if (jump) begin
        stat_idle    <= stat_idle + {32'b0, wait_left};
        stat_skipped <= stat_skipped + {32'b0, wait_left - 32'd1};
      end
      else if (debug_compute != 0) stat_compute <= stat_compute + 64'd1;
      else if (in_beat != 0 || master_reads) stat_load <= stat_load + 64'd1;
      else if (out_beat != 0 || master_writes) stat_store <= stat_store + 64'd1;
      else if (busy) stat_dma_wait <= stat_dma_wait + 64'd1;
      else stat_idle <= stat_idle + 64'd1;
    end

    // The CPU.
    quiet <= debug_idle;
    case (cpu)
      CPU_STEP:
        if (running) begin
          `AXL_CPU_STEP(op, cpu_rdata, {28'b0, write_busy, cpu_resp}, lines, now, step_addr, step_data, step_delay);
          access_addr <= step_addr;
          access_data <= step_data;
          computing   <= op == OP_ADVANCE || (op == OP_SLEEP && !step_data[16]);
          sleeping    <= op == OP_SLEEP;
          cpu         <= CPU_DELAY;
          // This edge is the first cycle of the delay, so that a delay is exact. The way through
          // the interconnect, there and back, is in the delays that the core gives.
          wait_left   <= step_delay - 32'd1;
          case (op)
            OP_READ: cpu_next <= CPU_READ;
            OP_WRITE: cpu_next <= CPU_WRITE;
            OP_WAIT_IRQ: cpu_next <= CPU_WAIT_IRQ;
            OP_ADVANCE, OP_SLEEP: cpu_next <= CPU_STEP;
            default: begin  // OP_HALT, after its delay
              cpu_next  <= CPU_HALT;
              computing <= 1'b1;
            end
          endcase
        end
      CPU_DELAY: begin
        wait_left <= wait_left - step_cycles;
        if (jump || woken || $signed(wait_left) <= 1) begin
          cpu     <= cpu_next;
          sleeping <= 1'b0;
          awvalid <= cpu_next == CPU_WRITE;
          wvalid  <= cpu_next == CPU_WRITE;
          bready  <= cpu_next == CPU_WRITE;
          arvalid <= cpu_next == CPU_READ;
          rready  <= cpu_next == CPU_READ;
          awaddr  <= access_addr[ADDRESS-1:0];
          araddr  <= access_addr[ADDRESS-1:0];
          wdata   <= access_data;
        end
      end
      CPU_READ: begin
        if (arready) arvalid <= 1'b0;
        if (lite_done) begin
          rready          <= 1'b0;
          cpu_rdata       <= rdata;
          cpu_resp        <= rresp;
          stat_mmio_reads <= stat_mmio_reads + 64'd1;
          if (status_read) begin
            // Again, or again after a look at the other channel.
            if (araddr == polled || araddr == polled_before) stat_polls <= stat_polls + 64'd1;
            polled        <= araddr;
            polled_before <= polled;
          end
          else begin
            polled        <= NO_REGISTER;
            polled_before <= NO_REGISTER;
          end
        end
      end
      CPU_WRITE: begin
        if (awready) awvalid <= 1'b0;
        if (wready) wvalid <= 1'b0;
        if (lite_done) begin
          bready           <= 1'b0;
          cpu_resp         <= bresp;
          polled           <= NO_REGISTER;
          polled_before    <= NO_REGISTER;
          stat_mmio_writes <= stat_mmio_writes + 64'd1;
`ifndef AXL_SG
          for (dma = 0; dma < DMAS; dma = dma + 1) begin
            if (awaddr[9:0] == MM2S_BEGIN && hits(awaddr, dma))
              stat_transfers_in[64*dma +: 64] <= stat_transfers_in[64*dma +: 64] + 64'd1;
            if (awaddr[9:0] == S2MM_BEGIN && hits(awaddr, dma))
              stat_transfers_out[64*dma +: 64] <= stat_transfers_out[64*dma +: 64] + 64'd1;
          end
`endif
        end
      end
      CPU_WAIT_IRQ: begin
        polled        <= NO_REGISTER;
        polled_before <= NO_REGISTER;
        if (irq) cpu <= CPU_STEP;
      end
      CPU_AUTOPSY: begin
        // After the end of a run: both status registers as the CPU would read them now, and where the
        // descriptors are. An access that hangs itself is given up.
        autopsy_left <= autopsy_left - 9'd1;
        if (arready) arvalid <= 1'b0;
        if (rvalid && rready) begin
          case (autopsy_step % AUTOPSY_READS)
            0: stat_mm2s_dmasr[32 * (autopsy_step / AUTOPSY_READS) +: 32] <= rdata;
            1: stat_s2mm_dmasr[32 * (autopsy_step / AUTOPSY_READS) +: 32] <= rdata;
            2: stat_mm2s_length[32 * (autopsy_step / AUTOPSY_READS) +: 32] <= rdata;
            default: stat_s2mm_length[32 * (autopsy_step / AUTOPSY_READS) +: 32] <= rdata;
          endcase
          autopsy_step <= autopsy_step + 6'd1;
          araddr       <= autopsy_address(autopsy_step + 6'd1);
          arvalid      <= autopsy_step != AUTOPSY_END;
          rready       <= autopsy_step != AUTOPSY_END;
        end
        if ((rvalid && rready && autopsy_step == AUTOPSY_END) || autopsy_left == 0) begin
          cpu  <= CPU_HALT;
          done <= 1'b1;
        end
      end
      default: ;
    endcase
    if (lite_done) cpu <= CPU_STEP;
    for (dma = 0; dma < DMAS; dma = dma + 1) begin
      if (write_taken && hits(awaddr, dma)) begin
        write_busy <= {debug_s2mm_busy[dma], debug_mm2s_busy[dma]};
`ifndef AXL_SG
        // What a transfer has moved counts from its LENGTH on: the first word comes later than this.
        if (awaddr[9:0] == MM2S_BEGIN) begin
          stat_mm2s_length[32*dma +: 32] <= wdata;
          stat_mm2s_words[32*dma +: 32]  <= 32'd0;
        end
        if (awaddr[9:0] == S2MM_BEGIN) begin
          stat_s2mm_length[32*dma +: 32] <= wdata;
          stat_s2mm_words[32*dma +: 32]  <= 32'd0;
        end
`endif
        // A soft reset of the DMA resets the accelerator too (mm2s_prmry_reset_out_n). The monitor follows
        // when the next transfer begins: words that were still under way at the reset are lost.
        if ((awaddr[9:0] == MM2S_DMACR || awaddr[9:0] == S2MM_DMACR) && wdata[DMACR_RESET]) was_reset[dma] <= 1'b1;
        else if (was_reset[dma] && (awaddr[9:0] == MM2S_BEGIN || awaddr[9:0] == S2MM_BEGIN)) begin
          if (DMAS > 1) `AXL_ACCELERATOR(dma);
          `AXL_PROTOCOL_RESET;
          was_reset[dma]                <= 1'b0;
          stat_mm2s_words[32*dma +: 32] <= 32'd0;
          stat_s2mm_words[32*dma +: 32] <= 32'd0;
        end
      end
    end

    // The end of a run, in order or not. Progress is a word on a stream or a register write; the
    // CPU's own computing is never counted as standing still, polling and waiting are.
    if (in_beat != 0 || out_beat != 0 || master_reads || master_writes || (cpu == CPU_WRITE && lite_done)) stalled <= 32'd0;
    else if (running && waiting) stalled <= stalled + step_cycles;
    if (running) begin
      if (cpu == CPU_HALT) stat_outcome <= OUTCOME_HALT;
      else if (debug_error != 0 && !mid_access) stat_outcome <= OUTCOME_DEVICE_ERROR;
      // Under pauses a word may wait between two that are idle.
      else if (cpu == CPU_WAIT_IRQ && !irq && quiet && debug_idle && all_quiet && cfg_stall == 0) stat_outcome <= OUTCOME_NO_IRQ;
      else if (stalled >= cfg_watchdog && (!mid_access || stuck_access)) stat_outcome <= OUTCOME_STALL;
    end
    // An access that had just begun ends first: its answer is not what the autopsy asks for.
    if (ctl_go && stat_outcome != OUTCOME_RUNNING && !done && cpu != CPU_AUTOPSY && (!mid_access || stuck_access)) begin
      cpu          <= CPU_AUTOPSY;
      autopsy_left <= AUTOPSY_CYCLES;
      autopsy_step <= 6'd0;
      awvalid      <= 1'b0;
      wvalid       <= 1'b0;
      araddr       <= autopsy_address(6'd0);
      arvalid      <= 1'b1;
      rready       <= 1'b1;
    end

    if (!ctl_go) begin
      done               <= 1'b0;
      stat_outcome       <= OUTCOME_RUNNING;
      activity_told      <= 0;
      now                <= 64'd0;
      stat_skipped       <= 64'd0;
      stat_compute       <= 64'd0;
      stat_load          <= 64'd0;
      stat_store         <= 64'd0;
      stat_dma_wait      <= 64'd0;
      stat_idle          <= 64'd0;
      stat_words_in      <= 0;
      stat_words_out     <= 0;
      stat_transfers_in  <= 0;
      stat_transfers_out <= 0;
      stat_computing     <= 0;
      stat_mmio_reads    <= 64'd0;
      stat_mmio_writes   <= 64'd0;
      stat_polls         <= 64'd0;
      stat_mm2s_dmasr    <= 0;
      stat_s2mm_dmasr    <= 0;
      stat_mm2s_length   <= 0;
      stat_s2mm_length   <= 0;
      stat_mm2s_words    <= 0;
      stat_s2mm_words    <= 0;
      cpu                <= CPU_STEP;
      cpu_next           <= CPU_STEP;
      cpu_rdata          <= 32'd0;
      cpu_resp           <= 2'b00;
      wait_left          <= 32'd0;
      computing          <= 1'b0;
      sleeping           <= 1'b0;
      polled             <= NO_REGISTER;
      polled_before      <= NO_REGISTER;
      stalled            <= 32'd0;
      access_addr        <= 32'd0;
      access_data        <= 32'd0;
      awvalid            <= 1'b0;
      wvalid             <= 1'b0;
      bready             <= 1'b0;
      arvalid            <= 1'b0;
      rready             <= 1'b0;
    end
    if (ctl_reset) begin
      quiet     <= 1'b0;
      was_reset <= 0;
      write_busy <= 2'b00;
      memory_reset;
      master_reset;
    end
  end
endmodule
