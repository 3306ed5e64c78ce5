module s2mm (
  input  wire aclk,
  input  wire aresetn,
  input  wire start,
  input  wire [31:0] address,
  input  wire [25:0] length,
  input  wire stop,
  output reg  active = 1'h0,
  output wire done,
  output wire [25:0] received,
  output wire overflow,
  output wire slave_error,
  output wire decode_error,
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
  wire accept;
  reg [31:0] address_46 = 32'd0;
  wire address_accepted;
  reg [3:0] beat = 4'h0;
  reg [31:0] burst_address = 32'd0;
  wire burst_ends;
  wire burst_sent;
  reg collecting = 1'h0;
  wire command_ends;
  wire error;
  reg failed = 1'h0;
  wire finished;
  reg [3:0] pending = 4'h0;
  wire [39:0] r_data;
  wire [32:0] r_data_68;
  wire r_en_73;
  wire r_rdy_71;
  wire row_ends;
  wire rst;
  reg [3:0] unsent = 4'h0;
  wire w_en_52;
  wire w_rdy;
  wire w_rdy_37;
  reg [23:0] words_left = 24'h000000;
  reg [23:0] words_received = 24'h000000;
  always @(posedge aclk) begin
    if (accept) address_46 <= address_46 + 32'h4;
    if (start) address_46 <= address;
    if (rst) address_46 <= 32'd0;
  end
  always @(posedge aclk) begin
    if (accept) beat <= burst_ends ? 4'h0 : (beat + 4'h1);
    if (start) beat <= 4'h0;
    if (rst) beat <= 4'h0;
  end
  always @(posedge aclk) begin
    if (accept) words_left <= words_left - 24'h1;
    if (start) words_left <= length[25:2];
    if (rst) words_left <= 24'h000000;
  end
  always @(posedge aclk) begin
    if (accept) words_received <= words_received + 24'h1;
    if (start) words_received <= 24'h000000;
    if (rst) words_received <= 24'h000000;
  end
  always @(posedge aclk) begin
    if (accept) begin
      if (beat == 0) burst_address <= address_46;
    end
    if (rst) burst_address <= 32'd0;
  end
  always @(posedge aclk) begin
    if (accept) begin
      if (command_ends) collecting <= 1'h0;
    end
    if (start) collecting <= 1'h1;
    if (error) collecting <= 1'h0;
    if (rst) collecting <= 1'h0;
  end
  always @(posedge aclk) begin
    unsent <= unsent + address_accepted - burst_sent;
    if (rst) unsent <= 4'h0;
  end
  always @(posedge aclk) begin
    pending <= pending + w_en_52 - bus_bvalid;
    if (rst) pending <= 4'h0;
  end
  always @(posedge aclk) begin
    if (overflow | error) failed <= 1'h1;
    if (rst) failed <= 1'h0;
  end
  always @(posedge aclk) begin
    if (start) active <= 1'h1;
    if (finished) active <= 1'h0;
    if (rst) active <= 1'h0;
  end
  assign stream_tready = collecting & ~stop & w_rdy & w_rdy_37 & (pending != 4'hf);
  assign accept = stream_tvalid & stream_tready;
  assign row_ends = words_left == 24'h1;
  assign burst_ends = command_ends | row_ends | (beat == 4'hf) | (&address_46[11:2]);
  assign w_en_52 = accept & burst_ends;
  assign command_ends = stream_tlast | row_ends;
  assign overflow = accept & command_ends & ~stream_tlast;
  assign address_accepted = bus_awvalid & bus_awready;
  assign bus_wvalid = r_rdy_71 & (|unsent);
  assign r_en_73 = bus_wready & (|unsent);
  assign burst_sent = bus_wvalid & bus_wready & r_data_68[32];
  assign error = bus_bvalid & bus_bresp[1];
  assign slave_error = error & ~bus_bresp[0];
  assign decode_error = error & bus_bresp[0];
  assign drained = pending == 0;
  assign quiet = (pending == 0) & (~active | collecting) & ~accept;
  assign finished = active & ~collecting & (pending == 0);
  assign done = finished & ~failed;
  assign rst = ~aresetn;
  s2mm_commands commands (
    .aclk(aclk),
    .port_15_0((beat == 0) ? address_46 : burst_address),
    .port_168_0(beat),
    .r_data(r_data),
    .r_en(bus_awready),
    .r_rdy(bus_awvalid),
    .rst(rst),
    .w_en(w_en_52),
    .w_rdy(w_rdy_37)
  );
  s2mm_fifo fifo (
    .aclk(aclk),
    .port_0_69(stream_tdata),
    .port_13_0(burst_ends),
    .r_data(r_data_68),
    .r_en(r_en_73),
    .r_rdy(r_rdy_71),
    .rst(rst),
    .w_en(accept),
    .w_rdy(w_rdy)
  );
  assign received = { words_received, 2'h0 };
  assign bus_awaddr = r_data[31:0];
  assign bus_awlen = r_data[39:32];
  assign bus_awsize = 3'h2;
  assign bus_awburst = 2'h1;
  assign bus_awprot = 3'h0;
  assign bus_awcache = 4'h3;
  assign bus_wdata = r_data_68[31:0];
  assign bus_wstrb = 4'hf;
  assign bus_wlast = r_data_68[32];
  assign bus_bready = 1'h1;
endmodule

module s2mm_commands (
  input  wire r_en,
  input  wire [31:0] port_15_0,
  input  wire w_en,
  input  wire rst,
  output wire w_rdy,
  output wire [39:0] r_data,
  input  wire [3:0] port_168_0,
  output reg  r_rdy = 1'h0,
  input  wire aclk
);
  reg [2:0] inner_level = 3'h0;
  wire inner_r_rdy;
  reg [1:0] r_port_addr = 2'h0;
  wire r_port_en;
  reg [1:0] w_port_addr = 2'h0;
  wire w_port_en;
  reg [39:0] storage [3:0];
  reg [39:0] _0_;
  initial begin : storage_at_start
    integer i;
    for (i = 0; i < 4; i = i + 1) storage[i] = 40'h0000000000;
  end
  always @(posedge aclk) begin
    if (w_port_en)
    storage[w_port_addr] <= { 4'h0, port_168_0, port_15_0 };
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
endmodule

module s2mm_fifo (
  input  wire [31:0] port_0_69,
  input  wire w_en,
  input  wire port_13_0,
  input  wire r_en,
  input  wire rst,
  output wire w_rdy,
  output wire [32:0] r_data,
  output reg  r_rdy = 1'h0,
  input  wire aclk
);
  reg [6:0] inner_level = 7'h00;
  wire inner_r_rdy;
  reg [5:0] r_port_addr = 6'h00;
  wire r_port_en;
  reg [5:0] w_port_addr = 6'h00;
  wire w_port_en;
  reg [32:0] storage [63:0];
  reg [32:0] _0_;
  initial begin : storage_at_start
    integer i;
    for (i = 0; i < 64; i = i + 1) storage[i] = 33'h000000000;
  end
  always @(posedge aclk) begin
    if (w_port_en)
    storage[w_port_addr] <= { port_13_0, port_0_69 };
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
