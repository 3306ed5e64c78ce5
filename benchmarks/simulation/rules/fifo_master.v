// In the style of a library: a data mover of 64 bits with a FIFO, register slices at its ports, and a register file behind
// skid buffers. max(x, 0) of 64 words from a to c. FAULT breaks it (bus_rules.py); 0 is right.
module fifo_master #(parameter FAULT = 0, WIDTH = 64) (
`include "master_ports.vh"
);
  localparam [6:0] BEATS = 32;
  localparam [6:0] READS = FAULT == 36 ? 32 : 4, WRITES = FAULT == 37 ? 32 : 4;
  wire rst = !ap_rst_n;
  // --- registers: skid buffers for AW, W and AR; a write when both are there
  wire aw_valid, w_valid, ar_valid;
  wire [5:0] aw_addr, ar_addr;
  wire [31:0] w_data;
  reg bvalid, rvalid, wait_b, wait_r, done, busy;
  reg [31:0] rdata, a, c;
  wire write = aw_valid && w_valid && (!bvalid || s_axi_control_BREADY);
  wire read = ar_valid && (!rvalid || s_axi_control_RREADY && s_axi_control_RVALID);
  fifo_skid #(6) skid_aw (.clk(ap_clk), .rst(rst), .i_data(s_axi_control_AWADDR), .i_valid(s_axi_control_AWVALID),
    .i_ready(s_axi_control_AWREADY), .o_data(aw_addr), .o_valid(aw_valid), .o_ready(write));
  fifo_skid #(32) skid_w (.clk(ap_clk), .rst(rst), .i_data(s_axi_control_WDATA), .i_valid(s_axi_control_WVALID),
    .i_ready(s_axi_control_WREADY), .o_data(w_data), .o_valid(w_valid), .o_ready(write));
  fifo_skid #(6) skid_ar (.clk(ap_clk), .rst(rst), .i_data(s_axi_control_ARADDR), .i_valid(s_axi_control_ARVALID),
    .i_ready(s_axi_control_ARREADY), .o_data(ar_addr), .o_valid(ar_valid), .o_ready(read));
  assign s_axi_control_BRESP = 0, s_axi_control_RRESP = 0;
  assign s_axi_control_BVALID = FAULT == 21 ? bvalid && !wait_b : FAULT == 23 ? bvalid || (aw_valid && !w_valid)
                              : FAULT == 25 ? bvalid && s_axi_control_BREADY : FAULT == 27 ? bvalid || rst
                              : FAULT == 28 ? 0 : bvalid;
  assign s_axi_control_RVALID = FAULT == 22 ? rvalid && !wait_r : FAULT == 26 ? rvalid && s_axi_control_RREADY
                              : FAULT == 29 ? rvalid || (bvalid && !ar_valid) : rvalid;
  assign s_axi_control_RDATA = FAULT == 24 ? rdata ^ (wait_r ? 16 : 0) : rdata;
  // --- memory
  reg [6:0] asked, offered, answered, gone, beat;  // beats
  reg wait_ar, wait_aw, wait_w;
  wire [64:0] x;
  wire x_valid, space, x_ready;
  wire [6:0] there;
  reg [6:0] arrived;
  assign there = arrived - gone;
  fifo_queue #(.W(65), .LOG2(5)) queue (.clk(ap_clk), .rst(rst), .i_data({1'b0, m_axi_gmem_RDATA}), .i_valid(m_axi_gmem_RVALID),
    .i_ready(space), .o_data(x), .o_valid(x_valid), .o_ready(x_ready));
  assign m_axi_gmem_RREADY = space;
  assign m_axi_gmem_ARADDR = a + 8 * asked, m_axi_gmem_ARLEN = READS - 1, m_axi_gmem_ARSIZE = 3;
  assign m_axi_gmem_ARBURST = FAULT == 46 ? 3 : 1;
  assign m_axi_gmem_ARVALID = (busy && asked != BEATS && !(FAULT == 31 && wait_ar)) || (FAULT == 44 && rst);
  assign m_axi_gmem_AWADDR = c + 8 * offered + (FAULT == 35 && wait_aw ? 8 : 0), m_axi_gmem_AWLEN = WRITES - 1;
  assign m_axi_gmem_AWSIZE = 3, m_axi_gmem_AWBURST = 1;
  assign m_axi_gmem_AWVALID = busy && offered != BEATS && !(FAULT == 32 && wait_aw) && !(FAULT == 43 && !m_axi_gmem_AWREADY);
  assign m_axi_gmem_WVALID = x_valid && busy && (FAULT != 41 || offered > gone) && !(FAULT == 33 && wait_w);
  assign x_ready = m_axi_gmem_WREADY && m_axi_gmem_WVALID;
  assign m_axi_gmem_WDATA = {x[63] ? 32'd0 : x[63:32], x[31] ? 32'd0 : x[31:0]} + (FAULT == 34 && wait_w);
  assign m_axi_gmem_WSTRB = FAULT == 40 ? 8'b0000_1111 : 8'b1111_1111;
  assign m_axi_gmem_WLAST = FAULT == 38 ? 0 : FAULT == 39 ? beat == 0 : beat == WRITES - 1;
  assign m_axi_gmem_BREADY = 1;
  wire ends = FAULT == 42 ? gone == BEATS && offered == BEATS : answered == BEATS;
  always @(posedge ap_clk)
    if (rst) begin
      bvalid <= 0; rvalid <= 0; wait_b <= 0; wait_r <= 0; done <= 0; busy <= 0; a <= 0; c <= 0; rdata <= 0;
      asked <= 0; offered <= 0; answered <= 0; gone <= 0; beat <= 0; arrived <= 0; wait_ar <= 0; wait_aw <= 0; wait_w <= 0;
    end else begin
      wait_b <= s_axi_control_BVALID && !s_axi_control_BREADY;
      wait_r <= s_axi_control_RVALID && !s_axi_control_RREADY;
      wait_ar <= m_axi_gmem_ARVALID && !m_axi_gmem_ARREADY;
      wait_aw <= m_axi_gmem_AWVALID && !m_axi_gmem_AWREADY;
      wait_w <= m_axi_gmem_WVALID && !m_axi_gmem_WREADY;
      if (s_axi_control_BREADY && (s_axi_control_BVALID || FAULT == 28)) bvalid <= 0;
      if (s_axi_control_RREADY && s_axi_control_RVALID) rvalid <= 0;
      if (m_axi_gmem_ARVALID && m_axi_gmem_ARREADY) asked <= asked + READS;
      if (m_axi_gmem_RVALID && m_axi_gmem_RREADY) arrived <= arrived + 1;
      if (m_axi_gmem_AWVALID && m_axi_gmem_AWREADY) offered <= offered + WRITES;
      if (m_axi_gmem_BVALID) answered <= answered + WRITES;
      if (x_ready) begin
        gone <= gone + 1;
        beat <= beat == WRITES - 1 ? 0 : beat + 1;
      end
      if (read) begin
        rvalid <= 1;
        rdata <= ar_addr == 0 ? {30'd0, done, busy} : 0;
        if (ar_addr == 0) done <= 0;
      end
      if (busy && ends) begin
        busy <= 0; done <= 1; asked <= 0; offered <= 0; answered <= 0; gone <= 0; arrived <= 0;
      end
      if (write) begin
        bvalid <= 1;
        case (aw_addr)
          6'h00: if (w_data[0]) busy <= 1;
          6'h10: if (!busy) a <= {w_data[31:6], 6'd0};
          6'h1c: if (!busy) c <= {w_data[31:6], 6'd0};
          default: ;
        endcase
      end
    end
endmodule
