// What watches the ports of a simulated SoC, and in a run under pauses holds them up: modules that stand between two
// sides of a port. They look in every cycle, and tell the core when a rule is broken (AXL_RULE_*: macros that
// axiloom/cosim/soc.py takes from axl_core.h).
//
// PORT is the number of the interface (axiloom/cosim/referee.py), CHANNEL one of T, AR, R, AW, W, B.

`timescale 1ps / 1ps

`ifdef VERILATOR
import "DPI-C" function void axl_breach(input int port, input int channel, input int rule, input longint now,
                                        input int a, input int b);
import "DPI-C" function void axl_kept(input int port, input longint now, input int kept, input int bytes);
import "DPI-C" function void axl_register(input int writes, input int address, input int data, input longint now);
 `define AXL_BREACH(rule, a, b) axl_breach(PORT, CHANNEL, rule, axiloom_tb.now, a, b)
 `define AXL_KEPT(kept, bytes) axl_kept(PORT, axiloom_tb.now, kept, bytes)
 `define AXL_REGISTER(writes, address, data) axl_register(writes, address, data, axiloom_tb.now)
`else
 `define AXL_BREACH(rule, a, b) $axl_breach(PORT, CHANNEL, rule, axiloom_tb.now, a, b)
 `define AXL_KEPT(kept, bytes) $axl_kept(PORT, axiloom_tb.now, kept, bytes)
 `define AXL_REGISTER(writes, address, data) $axl_register(writes, address, data, axiloom_tb.now)
`endif

// One channel. The rules are those of the side that drives `valid` (IHI 0022 A3.2.1, IHI 0051 2.2.1).
//
// Under pauses (AXL_PAUSES: a build that can make them) the gate is shut at times: then the sender sees no READY and the
// receiver no VALID. It does not shut on a VALID that the receiver has seen and not yet taken. `hold` keeps it shut.
// RULES: 0, the sender is the wrapper's own; 1, nothing resets it; 2.
module axl_channel #(
    parameter integer PORT = 0, CHANNEL = 0, WIDTH = 32, RULES = 2
) (
    input  wire             clk,
    input  wire             reset,
    input  wire             hold,
    input  wire             valid,
    output wire             ready,
    input  wire [WIDTH-1:0] payload,
    output wire             valid_out,
    input  wire             ready_in
);
  /*verilator inline_module*/
  // Offers of VALID that all come with READY, or all a cycle behind it, are chance in one of 2^24 cases with a sender that
  // does not look at READY. Addresses and answers are few: until there are so many, pauses are of the styles that count.
  localparam [4:0] MANY = 24;
  localparam integer FEW = CHANNEL != 0 && CHANNEL != 4;
  localparam [31:0] NUMBER = 32'h9E3779B9 * (PORT * 8 + CHANNEL + 1);

`ifdef AXL_PAUSES
  reg open;
  assign valid_out = valid & open;
  assign ready     = ready_in & open;
`else
  assign valid_out = valid;
  assign ready     = ready_in;
`endif

  reg             looks;       // something is to be compared in this cycle: in most there is nothing
  reg             waits;       // VALID was high and READY low in the cycle before
  reg [WIDTH-1:0] held;
  reg [2:0]       in_reset;
  initial begin
    looks    = 1'b0;
    waits    = 1'b0;
    in_reset = 3'd0;
  end

  always @(posedge clk) begin
    if (RULES != 0 && (looks || reset || (valid && !ready))) begin
      if (waits && !reset) begin
        if (!valid) `AXL_BREACH(`AXL_RULE_HELD, 0, 0);
        else if (payload != held) `AXL_BREACH(`AXL_RULE_STABLE, 0, 0);
      end
      // A registered reset takes some cycles to arrive.
      if (RULES == 2 && in_reset == 3'd4 && valid) `AXL_BREACH(`AXL_RULE_RESET, 0, 0);
      held     <= payload;
      waits    <= valid && !ready && !reset;
      in_reset <= !reset ? 3'd0 : in_reset == 3'd4 ? 3'd4 : in_reset + 3'd1;
      looks    <= reset || (valid && !ready);
    end
  end

  // --- pauses ---
`ifdef AXL_PAUSES
  reg [31:0] random;
  reg [1:0]  style;            // even odds, mostly open, mostly shut, runs of either
  reg [5:0]  left;             // cycles of that style
  reg        before_valid, before_ready;
  reg [4:0]  offers;           // by the power of two that each is worth
  reg        free_now, free_before;  // one came when READY was low; ... had been low
  wire [31:0] x1 = random ^ (random << 13), x2 = x1 ^ (x1 >> 17), x3 = x2 ^ (x2 << 5);
  reg        next_open;
  wire [4:0] worth = style[1] ? 5'd3 : 5'd1;
  wire       counts = !style[0] && left < 6'd62 && offers < MANY;  // both READY are of this style
  initial begin
    open         = 1'b1;
    random       = NUMBER | 32'd1;
    style        = 2'd0;
    left         = 6'd0;
    before_valid = 1'b0;
    before_ready = 1'b1;
    offers       = 5'd0;
    free_now     = 1'b0;
    free_before  = 1'b0;
  end
  always @* case (style)
    2'd0: next_open = x3[8];
    2'd1: next_open = x3[10:8] != 0;
    2'd2: next_open = x3[10:8] == 0;
    default: next_open = x3[12:8] == 0 ? !open : open;
  endcase
  always @(posedge clk) begin
    if (axiloom_tb.pausing) begin
      random <= x3;
      left   <= left - 6'd1;
      if (left == 0) style <= {x3[1], x3[0] && (FEW == 0 || offers >= MANY)};
      open <= !axiloom_tb.stalling || (valid && open && !ready_in) || (next_open && !hold);
      before_valid <= valid;
      before_ready <= ready;
      if (RULES != 0 && axiloom_tb.stalling && valid && !before_valid && counts) begin
        free_now    <= free_now || !ready;
        free_before <= free_before || !before_ready;
        offers      <= offers + worth;
        if (offers + worth >= MANY && ((!free_now && ready) || (!free_before && before_ready)))
          `AXL_BREACH(`AXL_RULE_WAITS, 0, 0);
      end
      // Offers are counted over all runs: in one there may be few.
      if (!axiloom_tb.ctl_go) random <= (NUMBER ^ (axiloom_tb.cfg_stall * 32'h85EBCA6B)) | 32'd1;
    end
  end
`endif
endmodule

// TKEEP of a stream into the DMA, which takes whole beats but for the last of a packet (PG021).
module axl_keep #(
    parameter integer PORT = 0, CHANNEL = 0, BYTES = 4
) (
    input wire             clk,
    input wire             valid,
    input wire             ready,
    input wire             last,
    input wire [BYTES-1:0] keep
);
  /*verilator inline_module*/
  integer byte_, kept;
  always @(posedge clk) begin
    if (valid && ready && !(&keep)) begin
      kept = 0;
      for (byte_ = 0; byte_ < BYTES; byte_ = byte_ + 1) kept = kept + {31'b0, keep[byte_]};
      if (kept == 0) `AXL_BREACH(`AXL_RULE_KEEP_ZERO, 0, BYTES);
      else if ((keep & (keep + 1'b1)) != 0) `AXL_BREACH(`AXL_RULE_KEEP_GAP, kept, BYTES);
      else if (!last) `AXL_BREACH(`AXL_RULE_KEEP_EARLY, kept, BYTES);
      else `AXL_KEPT(kept, BYTES);
    end
  end
endmodule

// Write address, write data and answer of a master: what must not wait for what. Under pauses AW is held while W is
// not offered, for a time that differs: a master that then offers W just behind AWREADY has waited for it, which AXI
// forbids (IHI 0022 A3.3.1). And B is held long, at first: a master that says done before shows it.
module axl_writes #(
    parameter integer PORT = 0, CHANNEL = 3
) (
    input  wire clk,
    input  wire reset,
    input  wire awvalid,
    input  wire awready,
    input  wire wvalid,
    input  wire wready,
    input  wire wlast,
    input  wire bvalid,   // before it is held
    input  wire bready,
    output wire hold_aw,
    output wire hold_b
);
  /*verilator inline_module*/
  localparam [3:0] JUST_BEHIND = 8;
  reg [4:0]  under_way;  // bursts whose data are not all taken
  reg [10:0] waited, limit;
  reg [3:0]  behind;     // cycles since an AW that was held to the limit; 0: none is looked at
  reg [2:0]  tries, bound;
  reg        free;       // it has offered W without AWREADY
  wire looks = axiloom_tb.stalling && !free && tries != 3'd4 && under_way == 0 && !wvalid;
  assign hold_aw = looks && waited != limit;

  reg [8:0]  b_held;
  reg [14:0] b_spent;
  assign hold_b = axiloom_tb.stalling && !(&b_held) && !b_spent[14];

  initial begin
    under_way = 0;
    waited = 0;
    limit = 11'd300;
    behind = 0;
    tries = 0;
    bound = 0;
    free = 0;
    b_held = 0;
    b_spent = 0;
  end
  always @(posedge clk) begin
    if (axiloom_tb.stalling) begin
      if (awvalid && looks && waited != limit) waited <= waited + 11'd1;
      if (awvalid && under_way == 0 && wvalid && behind == 0 && waited > 11'd2) free <= 1'b1;
      if (awvalid && awready) begin
        waited <= 11'd0;
        limit  <= 11'd256 + ((limit * 11'd5 + 11'd397 + axiloom_tb.cfg_stall[10:0]) & 11'd1023);
        if (waited == limit && limit != 0) begin
          behind <= 4'd1;
          tries  <= tries + 3'd1;
        end
      end else if (behind != 0) begin
        behind <= behind == JUST_BEHIND ? 4'd0 : behind + 4'd1;
        if (behind == JUST_BEHIND) free <= 1'b1;
      end
      if (behind != 0 && wvalid) begin
        behind <= 4'd0;
        bound  <= bound + 3'd1;
        if (bound == 3'd1) `AXL_BREACH(`AXL_RULE_W_WAITS, 0, 0);
      end
      if (!bvalid) b_held <= 9'd0;
      else if (hold_b) begin
        b_held  <= b_held + 9'd1;
        b_spent <= b_spent + 15'd1;
      end
    end
    under_way <= reset ? 5'd0 : under_way + {4'b0, awvalid && awready} - {4'b0, wvalid && wready && wlast};
    if (!axiloom_tb.ctl_go) begin
      waited  <= 0;
      behind  <= 0;
      tries   <= 0;
      bound   <= 0;
      free    <= 0;
      b_held  <= 0;
      b_spent <= 0;
    end
  end
endmodule

// The registers of a user's module: an answer comes behind what asked for it. The core hears of every access.
module axl_registers #(
    parameter integer PORT = 0, CHANNEL = 5
) (
    input wire        clk,
    input wire        reset,
    input wire [31:0] awaddr,
    input wire        awvalid,
    input wire        awready,
    input wire [31:0] wdata,
    input wire        wvalid,
    input wire        wready,
    input wire        bvalid,
    input wire        bready,
    input wire [31:0] araddr,
    input wire        arvalid,
    input wire        arready,
    input wire [31:0] rdata,
    input wire        rvalid,
    input wire        rready
);
  /*verilator inline_module*/
  reg [31:0] to_write, to_read;
  reg [3:0]  addresses, words, reads;  // taken, and not answered
  reg        told_b, told_r;
  wire aw_moves = awvalid && awready, w_moves = wvalid && wready, b_moves = bvalid && bready;
  wire ar_moves = arvalid && arready, r_moves = rvalid && rready;
  initial begin
    addresses = 0;
    words     = 0;
    reads     = 0;
    told_b    = 0;
    told_r    = 0;
    to_write  = 0;
    to_read   = 0;
  end
  always @(posedge clk) begin
    if (aw_moves) to_write <= awaddr;
    if (w_moves) `AXL_REGISTER(1, awvalid ? awaddr : to_write, wdata);
    if (ar_moves) to_read <= araddr;
    if (r_moves) `AXL_REGISTER(0, ar_moves && reads == 0 ? araddr : to_read, rdata);
    told_b <= bvalid && !bready;
    told_r <= rvalid && !rready;
    if (bvalid && !told_b && !reset && ((addresses == 0 && !aw_moves) || (words == 0 && !w_moves)))
      `AXL_BREACH(`AXL_RULE_B_ASKED, 0, 0);
    if (rvalid && !told_r && !reset && reads == 0 && !ar_moves) `AXL_BREACH(`AXL_RULE_R_ASKED, 0, 0);
    addresses <= addresses + {3'b0, aw_moves} - {3'b0, b_moves && (addresses != 0 || aw_moves)};
    words     <= words + {3'b0, w_moves} - {3'b0, b_moves && (words != 0 || w_moves)};
    reads     <= reads + {3'b0, ar_moves} - {3'b0, r_moves && (reads != 0 || ar_moves)};
    if (reset) begin
      addresses <= 0;
      words     <= 0;
      reads     <= 0;
    end
  end
endmodule

// IDs of a master's bursts in one direction: an answer has that of a burst under way (IHI 0022 A5.3). Of wide IDs the
// lowest 8 bits are looked at.
module axl_ids #(
    parameter integer PORT = 0, CHANNEL = 2, WIDTH = 1
) (
    input wire             clk,
    input wire             reset,
    input wire             asks,  // an address is taken
    input wire [WIDTH-1:0] asked_id,
    input wire             valid,
    input wire             ready,
    input wire             last,
    input wire [WIDTH-1:0] id
);
  /*verilator inline_module*/
  localparam integer BITS = WIDTH < 8 ? WIDTH : 8;
  reg [7:0] under_way [0:(1 << BITS) - 1];
  reg       said;
  integer   i;
  wire      ends = valid && ready && last;
  wire [BITS-1:0] from = asked_id[BITS-1:0], to = id[BITS-1:0];
  initial begin
    said = 1'b0;
    for (i = 0; i < (1 << BITS); i = i + 1) under_way[i] = 8'd0;
  end
  always @(posedge clk) begin
    if (reset) for (i = 0; i < (1 << BITS); i = i + 1) under_way[i] <= 8'd0;
    else begin
      if (valid && !said && under_way[to] == 0) `AXL_BREACH(`AXL_RULE_ID, {{32-BITS{1'b0}}, to}, 0);
      if (asks && !(ends && from == to)) under_way[from] <= under_way[from] + 8'd1;
      if (ends && !(asks && from == to) && under_way[to] != 0) under_way[to] <= under_way[to] - 8'd1;
    end
    said <= valid && !ready;
  end
endmodule

// The level of a reset port, which can be turned round: does a module that hangs run with the other polarity?
module axl_reset #(
    parameter integer LOW = 0
) (
    input  wire reset,
    output wire level
);
  /*verilator inline_module*/
  assign level = reset ^ (LOW != 0) ^ axiloom_tb.cfg_invert_reset;
endmodule
