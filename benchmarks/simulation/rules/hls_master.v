// In the style of HLS: reads and writes are processes of their own with a FIFO between, several bursts under way.
// max(x, 0) of 64 words from a to c. FAULT breaks it (bus_rules.py); 0 is right.
module hls_fifo #(parameter LOG2 = 6) (
  input wire clk, input wire rst, input wire [31:0] i, input wire put, output wire [31:0] o, input wire get,
  output wire [LOG2:0] count
);
  reg [31:0] words [0:(1<<LOG2)-1];
  reg [LOG2:0] head, tail;
  assign o = words[head[LOG2-1:0]], count = tail - head;
  always @(posedge clk)
    if (rst) begin head <= 0; tail <= 0; end
    else begin
      if (put) begin words[tail[LOG2-1:0]] <= i; tail <= tail + 1; end
      if (get) head <= head + 1;
    end
endmodule

module hls_master #(parameter FAULT = 0, WIDTH = 32) (
`include "master_ports.vh"
);
  localparam [6:0] WORDS = 64;
  localparam [6:0] READS = FAULT == 36 ? 64 : 8, WRITES = FAULT == 37 ? 64 : 8;
`include "master_control.vh"
  wire [31:0] x;
  // --- reads
  reg [6:0] asked, written, answered, offered, beat;
  reg arvalid, awvalid, wait_w, wait_aw, wait_ar;
  wire [6:0] there;
  wire busy = ap_start && !ap_done;
  assign m_axi_gmem_ARADDR = a + 4 * asked, m_axi_gmem_ARLEN = READS - 1, m_axi_gmem_ARSIZE = 2;
  assign m_axi_gmem_ARBURST = FAULT == 46 ? 3 : 1;
  assign m_axi_gmem_ARVALID = (busy && asked != WORDS && !(FAULT == 31 && wait_ar)) || (FAULT == 44 && rst);
  assign m_axi_gmem_RREADY = 1;
  // --- writes: address and data are offered each by itself
  wire [6:0] sent;  // words
  assign m_axi_gmem_AWADDR = c + 4 * offered + (FAULT == 35 && wait_aw ? 32 : 0), m_axi_gmem_AWLEN = WRITES - 1;
  assign m_axi_gmem_AWSIZE = 2, m_axi_gmem_AWBURST = 1;
  assign m_axi_gmem_AWVALID = busy && offered != WORDS && offered + WRITES <= written + there && !(FAULT == 32 && wait_aw)
                            && !(FAULT == 43 && !m_axi_gmem_AWREADY);
  wire w_may = FAULT == 41 ? offered > written : 1;
  assign m_axi_gmem_WVALID = busy && there != 0 && w_may && !(FAULT == 33 && wait_w);
  assign m_axi_gmem_WDATA = (x[31] ? 0 : x) ^ (FAULT == 34 && wait_w);
  assign m_axi_gmem_WSTRB = FAULT == 40 ? 4'b1110 : 4'b1111;
  assign m_axi_gmem_WLAST = FAULT == 38 ? 0 : FAULT == 39 ? beat == WRITES - 3 : beat == WRITES - 1;
  assign m_axi_gmem_BREADY = 1;
  wire w_moves = m_axi_gmem_WVALID && m_axi_gmem_WREADY;
  hls_fifo fifo (.clk(ap_clk), .rst(rst), .i(m_axi_gmem_RDATA), .put(m_axi_gmem_RVALID), .o(x), .get(w_moves), .count(there));
  wire ends = FAULT == 42 ? written == WORDS && offered == WORDS : answered == WORDS;
  always @(posedge ap_clk)
    if (rst) begin
      asked <= 0; offered <= 0; written <= 0; answered <= 0; beat <= 0; ap_done <= 0; wait_w <= 0; wait_aw <= 0; wait_ar <= 0;
    end else begin
      wait_ar <= m_axi_gmem_ARVALID && !m_axi_gmem_ARREADY;
      wait_aw <= m_axi_gmem_AWVALID && !m_axi_gmem_AWREADY;
      wait_w <= m_axi_gmem_WVALID && !m_axi_gmem_WREADY;
      ap_done <= busy && ends;
      if (m_axi_gmem_ARVALID && m_axi_gmem_ARREADY) asked <= asked + READS;
      if (m_axi_gmem_AWVALID && m_axi_gmem_AWREADY) offered <= offered + WRITES;
      if (w_moves) begin
        written <= written + 1;
        beat <= beat == WRITES - 1 ? 0 : beat + 1;
      end
      if (m_axi_gmem_BVALID) answered <= answered + WRITES;
      if (busy && ends) begin asked <= 0; offered <= 0; written <= 0; answered <= 0; end
    end
endmodule
