// In the style of HLS: ap_start in a register, then 64 words through two register slices; done when the last has left.
// FAULT breaks it (bus_rules.py); 0 is right.
module hls_slice #(parameter W = 32) (
  input wire clk, input wire rst,
  input wire [W-1:0] i_data, input wire i_valid, output wire i_ready,
  output wire [W-1:0] o_data, output wire o_valid, input wire o_ready
);
  reg [W-1:0] first, second;
  reg [1:0] count;
  assign i_ready = count != 2, o_valid = count != 0, o_data = first;
  wire put = i_valid && i_ready, get = o_valid && o_ready;
  always @(posedge clk)
    if (rst) count <= 0;
    else begin
      count <= count + put - get;
      if (put && (count == 0 || (count == 1 && get))) first <= i_data; else if (get) first <= second;
      if (put) second <= i_data;
    end
endmodule

module hls_stream #(parameter FAULT = 0) (
  input wire ap_clk, input wire ap_rst_n,
  input wire [5:0] s_axi_control_AWADDR, input wire s_axi_control_AWVALID, output wire s_axi_control_AWREADY,
  input wire [31:0] s_axi_control_WDATA, input wire [3:0] s_axi_control_WSTRB, input wire s_axi_control_WVALID,
  output wire s_axi_control_WREADY, output wire [1:0] s_axi_control_BRESP, output wire s_axi_control_BVALID,
  input wire s_axi_control_BREADY, input wire [5:0] s_axi_control_ARADDR, input wire s_axi_control_ARVALID,
  output wire s_axi_control_ARREADY, output wire [31:0] s_axi_control_RDATA, output wire [1:0] s_axi_control_RRESP,
  output wire s_axi_control_RVALID, input wire s_axi_control_RREADY,
  input wire [31:0] in_r_TDATA, input wire in_r_TVALID, output wire in_r_TREADY, input wire [0:0] in_r_TLAST,
  output wire [31:0] out_r_TDATA, output wire [3:0] out_r_TKEEP, output wire out_r_TVALID, input wire out_r_TREADY,
  output wire [0:0] out_r_TLAST
);
  wire rst = !ap_rst_n;
  wire ap_start;
  reg ap_done, running;
  reg [6:0] taken;
  wire ap_ready = ap_done;
  wire [31:0] a, c, x, y;
  wire x_valid, x_ready, y_valid, y_ready, y_last, out_valid;
  wire [3:0] y_keep;
  hls_control #(.FAULT(FAULT)) control (.ACLK(ap_clk), .ARESET(rst),
    .AWADDR(s_axi_control_AWADDR), .AWVALID(s_axi_control_AWVALID), .AWREADY(s_axi_control_AWREADY),
    .WDATA(s_axi_control_WDATA), .WSTRB(s_axi_control_WSTRB), .WVALID(s_axi_control_WVALID), .WREADY(s_axi_control_WREADY),
    .BRESP(s_axi_control_BRESP), .BVALID(s_axi_control_BVALID), .BREADY(s_axi_control_BREADY),
    .ARADDR(s_axi_control_ARADDR), .ARVALID(s_axi_control_ARVALID), .ARREADY(s_axi_control_ARREADY),
    .RDATA(s_axi_control_RDATA), .RRESP(s_axi_control_RRESP), .RVALID(s_axi_control_RVALID), .RREADY(s_axi_control_RREADY),
    .ap_start(ap_start), .ap_done(ap_done), .ap_ready(ap_ready), .a(a), .c(c));
  hls_slice input_slice (.clk(ap_clk), .rst(rst), .i_data(in_r_TDATA), .i_valid(in_r_TVALID), .i_ready(in_r_TREADY),
                         .o_data(x), .o_valid(x_valid), .o_ready(x_ready));
  assign x_ready = ap_start && !ap_done && y_ready && taken != 64;
  assign y_valid = x_valid && x_ready, y = x[31] ? 0 : x;
  assign y_last = (taken == 63 && FAULT != 9) || (FAULT == 15 && taken == 7);
  assign y_keep = FAULT == 6 ? 4'b0000 : FAULT == 7 && taken == 2 ? 4'b1001 : FAULT == 8 && taken == 20 ? 4'b0111
                : FAULT == 13 && y_last ? 4'b0001 : 4'b1111;
  wire [36:0] sent;
  hls_slice #(37) output_slice (.clk(ap_clk), .rst(rst), .i_data({y_keep, y_last, y}), .i_valid(y_valid), .i_ready(y_ready),
                                .o_data(sent), .o_valid(out_valid), .o_ready(out_r_TREADY && out_r_TVALID));
  reg waited;
  assign out_r_TDATA = sent[31:0] ^ (FAULT == 2 && waited), out_r_TLAST = sent[32] && !(FAULT == 5 && waited);
  assign out_r_TKEEP = sent[36:33];
  assign out_r_TVALID = (out_valid && !(FAULT == 1 && waited) && !(FAULT == 4 && !out_r_TREADY)) || (FAULT == 3 && rst);
  wire ends = FAULT == 12 ? 0 : out_r_TVALID && out_r_TREADY && (sent[32] || (FAULT == 9 && taken == 64));
  always @(posedge ap_clk)
    if (rst) begin ap_done <= 0; taken <= 0; waited <= 0; end
    else begin
      waited <= out_r_TVALID && !out_r_TREADY;
      ap_done <= ends;
      if (ends) taken <= 0; else if (y_valid) taken <= taken + 1;
    end
endmodule
