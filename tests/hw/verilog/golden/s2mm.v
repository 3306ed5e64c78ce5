module s2mm (
  input  wire aclk,
  input  wire aresetn,
  input  wire command_start,
  input  wire [31:0] command_address,
  input  wire [25:0] command_length,
  output wire status_active,
  output wire status_done,
  output wire status_slave_error,
  output wire status_decode_error,
  input  wire stop,
  output wire [25:0] received,
  output wire overflow,
  output wire drained,
  output wire quiet,
  output wire [31:0] bus_awaddr,
  output wire [7:0] bus_awlen,
  output wire [2:0] bus_awsize,
  output wire [1:0] bus_awburst,
  output wire [2:0] bus_awprot,
  output wire [3:0] bus_awcache,
  output wire bus_awvalid,
  input  wire bus_awready,
  output wire [31:0] bus_wdata,
  output wire [3:0] bus_wstrb,
  output wire bus_wlast,
  output wire bus_wvalid,
  input  wire bus_wready,
  input  wire [1:0] bus_bresp,
  input  wire bus_bvalid,
  output wire bus_bready,
  input  wire [31:0] stream_tdata,
  input  wire stream_tvalid,
  output wire stream_tready,
  input  wire stream_tlast
);
  wire _21;
  wire [25:0] _35;
  wire [5:0] _39;
  wire [6:0] _40;
  wire _46;
  wire _58;
  wire accept;
  reg [31:0] address = 32'd0;
  wire address_accepted;
  reg address_waits = 1'h0;
  reg [3:0] beat = 4'h0;
  reg [31:0] burst_address = 32'd0;
  wire burst_ends;
  wire burst_sent;
  reg collecting = 1'h0;
  wire command_ends;
  reg commands_full = 1'h0;
  wire error;
  reg failed = 1'h0;
  wire finished;
  reg hungry = 1'h0;
  wire [6:0] level;
  wire [2:0] level_44;
  wire line_ends;
  wire may_send;
  reg page_ends = 1'h0;
  reg [3:0] pending = 4'h0;
  reg pending_full = 1'h0;
  wire [39:0] r_data;
  wire r_en;
  wire r_rdy;
  reg row_ends = 1'h0;
  wire rst;
  reg status_active_2 = 1'h0;
  reg [4:0] unsent = 5'h00;
  wire w_en;
  reg words_full = 1'h0;
  reg [23:0] words_left = 24'h000000;
  reg [23:0] words_received = 24'h000000;
  assign _21 = $signed(unsent) <= $signed(2'h1);
  assign _39 = $signed(unsent) + $signed({ 1'h0, address_accepted });
  assign _40 = $signed(_39) - $signed({ 1'h0, burst_sent });
  assign _46 = | { pending_full, commands_full, words_full };
  assign stream_tready = collecting & ~stop & ~_46;
  assign accept = stream_tvalid & stream_tready;
  assign line_ends = (&beat[1:0]) & hungry;
  assign burst_ends = command_ends | row_ends | (beat == 4'hf) | page_ends | line_ends;
  assign w_en = accept & burst_ends;
  assign command_ends = stream_tlast | row_ends;
  assign overflow = accept & command_ends & ~stream_tlast;
  assign address_accepted = bus_awvalid & bus_awready;
  assign _58 = $signed(unsent) > $signed(1'h0);
  assign may_send = _58 | (address_waits & (unsent == 0));
  assign bus_wvalid = r_rdy & may_send;
  assign r_en = bus_wready & may_send;
  assign burst_sent = bus_wvalid & bus_wready & bus_wlast;
  assign error = bus_bvalid & bus_bresp[1];
  assign status_slave_error = error & ~bus_bresp[0];
  assign status_decode_error = error & bus_bresp[0];
  assign drained = pending == 0;
  assign quiet = (pending == 0) & (~status_active_2 | collecting) & ~accept;
  assign finished = status_active_2 & ~collecting & (pending == 0);
  assign status_done = finished & ~failed;
  assign rst = ~aresetn;
  always @(posedge aclk) begin
    if (accept & ~(r_rdy & r_en)) words_full <= level == 7'h40;
    else if (r_rdy & r_en & ~accept) words_full <= 1'h0;
    if (rst) words_full <= 1'h0;
  end
  always @(posedge aclk) begin
    if (w_en & ~(bus_awvalid & bus_awready)) commands_full <= level_44 == 3'h4;
    else if (bus_awvalid & bus_awready & ~w_en) commands_full <= 1'h0;
    if (rst) commands_full <= 1'h0;
  end
  always @(posedge aclk) begin
    if (w_en & ~bus_bvalid) pending_full <= pending == 4'he;
    else if (bus_bvalid & ~w_en) pending_full <= 1'h0;
    if (rst) pending_full <= 1'h0;
  end
  always @(posedge aclk) begin
    hungry <= (level_44 == 0) & _21 & (pending <= 4'h7);
    if (rst) hungry <= 1'h0;
  end
  always @(posedge aclk) begin
    if (accept) address <= address + 32'h4;
    if (command_start) address <= command_address;
    if (rst) address <= 32'd0;
  end
  always @(posedge aclk) begin
    if (accept) page_ends <= address[11:2] == 10'h3fe;
    if (command_start) page_ends <= command_address[11:2] == 10'h3ff;
    if (rst) page_ends <= 1'h0;
  end
  always @(posedge aclk) begin
    if (accept) beat <= burst_ends ? 4'h0 : (beat + 4'h1);
    if (command_start) beat <= 4'h0;
    if (rst) beat <= 4'h0;
  end
  always @(posedge aclk) begin
    if (accept) words_left <= words_left - 24'h1;
    if (command_start) words_left <= command_length[25:2];
    if (rst) words_left <= 24'h000000;
  end
  always @(posedge aclk) begin
    if (accept) row_ends <= words_left == 24'h2;
    if (command_start) row_ends <= _35 == 26'h1;
    if (rst) row_ends <= 1'h0;
  end
  always @(posedge aclk) begin
    if (accept) words_received <= words_received + 24'h1;
    if (command_start) words_received <= 24'h000000;
    if (rst) words_received <= 24'h000000;
  end
  always @(posedge aclk) begin
    if (accept) begin
      if (beat == 0) burst_address <= address;
    end
    if (rst) burst_address <= 32'd0;
  end
  always @(posedge aclk) begin
    if (accept) begin
      if (command_ends) collecting <= 1'h0;
    end
    if (command_start) collecting <= 1'h1;
    if (error) collecting <= 1'h0;
    if (rst) collecting <= 1'h0;
  end
  always @(posedge aclk) begin
    address_waits <= bus_awvalid & ~bus_awready;
    if (rst) address_waits <= 1'h0;
  end
  always @(posedge aclk) begin
    unsent <= _40[4:0];
    if (rst) unsent <= 5'h00;
  end
  always @(posedge aclk) begin
    pending <= pending + w_en - bus_bvalid;
    if (rst) pending <= 4'h0;
  end
  always @(posedge aclk) begin
    if (overflow | error) failed <= 1'h1;
    if (rst) failed <= 1'h0;
  end
  always @(posedge aclk) begin
    if (command_start) status_active_2 <= 1'h1;
    if (finished) status_active_2 <= 1'h0;
    if (rst) status_active_2 <= 1'h0;
  end
  s2mm_commands commands (
    .aclk(aclk),
    .port_264_0(beat),
    .port_83_0((beat == 0) ? address : burst_address),
    .r_data(r_data),
    .r_en(bus_awready),
    .r_rdy(bus_awvalid),
    .rst(rst),
    .w_en(w_en),
    .w_level(level_44)
  );
  s2mm_ends ends (
    .aclk(aclk),
    .r_data(bus_wlast),
    .r_en(r_en),
    .rst(rst),
    .w_en(accept),
    .w_port_data(burst_ends)
  );
  s2mm_fifo fifo (
    .aclk(aclk),
    .r_data(bus_wdata),
    .r_en(r_en),
    .r_rdy(r_rdy),
    .rst(rst),
    .w_en(accept),
    .w_level(level),
    .w_port_data(stream_tdata)
  );
  assign status_active = status_active_2;
  assign received = { words_received, 2'h0 };
  assign bus_awaddr = r_data[31:0];
  assign bus_awlen = r_data[39:32];
  assign bus_awsize = 3'h2;
  assign bus_awburst = 2'h1;
  assign bus_awprot = 3'h0;
  assign bus_awcache = 4'h3;
  assign bus_wstrb = 4'hf;
  assign bus_bready = 1'h1;
  assign _35 = { 2'h0, command_length[25:2] };
endmodule

module s2mm_commands (
  input  wire r_en,
  input  wire [31:0] port_83_0,
  input  wire w_en,
  input  wire rst,
  output wire [2:0] w_level,
  output wire [39:0] r_data,
  input  wire [3:0] port_264_0,
  output reg  r_rdy = 1'h0,
  input  wire aclk
);
  reg [2:0] inner_level = 3'h0;
  wire inner_r_rdy;
  reg [1:0] r_port_addr = 2'h0;
  wire r_port_en;
  reg [1:0] w_port_addr = 2'h0;
  wire w_port_en;
  wire w_rdy;
  (* no_rw_check = 32'd1 *) reg [39:0] storage [3:0];
  reg [39:0] _0_;
  initial begin : storage_at_start
    integer i;
    for (i = 0; i < 4; i = i + 1) storage[i] = 40'h0000000000;
  end
  always @(posedge aclk) begin
    if (w_port_en)
    storage[w_port_addr] <= { 4'h0, port_264_0, port_83_0 };
  end
  always @(posedge aclk) begin
    if (r_port_en) _0_ <= storage[r_port_addr];
  end
  assign r_data = _0_;
  assign w_rdy = inner_level != 3'h4;
  assign inner_r_rdy = |inner_level;
  assign w_port_en = w_rdy & w_en;
  assign r_port_en = inner_r_rdy & (~r_rdy | r_en);
  always @(posedge aclk) begin
    if (w_rdy & w_en) w_port_addr <= w_port_addr + 2'h1;
    if (rst) w_port_addr <= 2'h0;
  end
  always @(posedge aclk) begin
    if (inner_r_rdy & (~r_rdy | r_en)) r_port_addr <= r_port_addr + 2'h1;
    if (rst) r_port_addr <= 2'h0;
  end
  always @(posedge aclk) begin
    if (w_rdy & w_en & ~(inner_r_rdy & (~r_rdy | r_en))) inner_level <= inner_level + 3'h1;
    if (inner_r_rdy & (~r_rdy | r_en) & ~(w_rdy & w_en)) inner_level <= inner_level - 3'h1;
    if (rst) inner_level <= 3'h0;
  end
  always @(posedge aclk) begin
    if (inner_r_rdy & (~r_rdy | r_en)) r_rdy <= 1'h1;
    else if (r_en) r_rdy <= 1'h0;
    if (rst) r_rdy <= 1'h0;
  end
  assign w_level = inner_level + r_rdy;
endmodule

module s2mm_ends (
  input  wire w_en,
  input  wire w_port_data,
  input  wire r_en,
  input  wire rst,
  output wire r_data,
  input  wire aclk
);
  reg [6:0] inner_level = 7'h00;
  wire inner_r_rdy;
  reg [5:0] r_port_addr = 6'h00;
  wire r_port_en;
  reg r_rdy = 1'h0;
  reg [5:0] w_port_addr = 6'h00;
  wire w_port_en;
  wire w_rdy;
  (* no_rw_check = 32'd1 *) reg [0:0] storage [63:0];
  reg [0:0] _0_;
  initial begin : storage_at_start
    integer i;
    for (i = 0; i < 64; i = i + 1) storage[i] = 1'h0;
  end
  always @(posedge aclk) begin
    if (w_port_en)
    storage[w_port_addr] <= w_port_data;
  end
  always @(posedge aclk) begin
    if (r_port_en) _0_ <= storage[r_port_addr];
  end
  assign r_data = _0_;
  assign w_rdy = inner_level != 7'h40;
  assign inner_r_rdy = |inner_level;
  assign w_port_en = w_rdy & w_en;
  assign r_port_en = inner_r_rdy & (~r_rdy | r_en);
  always @(posedge aclk) begin
    if (w_rdy & w_en) w_port_addr <= w_port_addr + 6'h1;
    if (rst) w_port_addr <= 6'h00;
  end
  always @(posedge aclk) begin
    if (inner_r_rdy & (~r_rdy | r_en)) r_port_addr <= r_port_addr + 6'h1;
    if (rst) r_port_addr <= 6'h00;
  end
  always @(posedge aclk) begin
    if (w_rdy & w_en & ~(inner_r_rdy & (~r_rdy | r_en))) inner_level <= inner_level + 7'h1;
    if (inner_r_rdy & (~r_rdy | r_en) & ~(w_rdy & w_en)) inner_level <= inner_level - 7'h1;
    if (rst) inner_level <= 7'h00;
  end
  always @(posedge aclk) begin
    if (inner_r_rdy & (~r_rdy | r_en)) r_rdy <= 1'h1;
    else if (r_en) r_rdy <= 1'h0;
    if (rst) r_rdy <= 1'h0;
  end
endmodule

module s2mm_fifo (
  input  wire [31:0] w_port_data,
  input  wire w_en,
  input  wire r_en,
  input  wire rst,
  output wire [6:0] w_level,
  output wire [31:0] r_data,
  output reg  r_rdy = 1'h0,
  input  wire aclk
);
  reg [6:0] inner_level = 7'h00;
  wire inner_r_rdy;
  reg [5:0] r_port_addr = 6'h00;
  wire r_port_en;
  reg [5:0] w_port_addr = 6'h00;
  wire w_port_en;
  wire w_rdy;
  (* no_rw_check = 32'd1 *) reg [31:0] storage [63:0];
  reg [31:0] _0_;
  initial begin : storage_at_start
    integer i;
    for (i = 0; i < 64; i = i + 1) storage[i] = 32'd0;
  end
  always @(posedge aclk) begin
    if (w_port_en)
    storage[w_port_addr] <= w_port_data;
  end
  always @(posedge aclk) begin
    if (r_port_en) _0_ <= storage[r_port_addr];
  end
  assign r_data = _0_;
  assign w_rdy = inner_level != 7'h40;
  assign inner_r_rdy = |inner_level;
  assign w_port_en = w_rdy & w_en;
  assign r_port_en = inner_r_rdy & (~r_rdy | r_en);
  always @(posedge aclk) begin
    if (w_rdy & w_en) w_port_addr <= w_port_addr + 6'h1;
    if (rst) w_port_addr <= 6'h00;
  end
  always @(posedge aclk) begin
    if (inner_r_rdy & (~r_rdy | r_en)) r_port_addr <= r_port_addr + 6'h1;
    if (rst) r_port_addr <= 6'h00;
  end
  always @(posedge aclk) begin
    if (w_rdy & w_en & ~(inner_r_rdy & (~r_rdy | r_en))) inner_level <= inner_level + 7'h1;
    if (inner_r_rdy & (~r_rdy | r_en) & ~(w_rdy & w_en)) inner_level <= inner_level - 7'h1;
    if (rst) inner_level <= 7'h00;
  end
  always @(posedge aclk) begin
    if (inner_r_rdy & (~r_rdy | r_en)) r_rdy <= 1'h1;
    else if (r_en) r_rdy <= 1'h0;
    if (rst) r_rdy <= 1'h0;
  end
  assign w_level = inner_level + r_rdy;
endmodule
