// By hand: one state machine reads a burst, writes a burst, waits for its answer. max(x, 0) of 64 words from a to c,
// which are multiples of 64. What is written while it runs is lost.
// FAULT breaks it (bus_rules.py); 0 is right.
module fsm_master #(parameter FAULT = 0, WIDTH = 32) (
`include "master_ports.vh"
);
  localparam [7:0] READS = FAULT == 36 ? 64 : 8, WRITES = FAULT == 37 ? 64 : 8, BURST = READS > WRITES ? READS : WRITES;
  localparam IDLE = 0, ASK = 1, READ = 2, WRITE = 3, ANSWER = 4;
  reg [31:0] a, c, rdata, kept [0:63];
  reg [2:0] state;
  reg [7:0] word, beat;
  reg aw, done, bvalid, rvalid, wait_ar, wait_aw, wait_w, wait_b, wait_r;
  // --- registers
  wire write = s_axi_control_AWVALID && s_axi_control_WVALID && !bvalid;
  wire read = s_axi_control_ARVALID && !rvalid;
  assign s_axi_control_AWREADY = write, s_axi_control_WREADY = write, s_axi_control_ARREADY = read;
  assign s_axi_control_BRESP = 0, s_axi_control_RRESP = 0;
  assign s_axi_control_BVALID = FAULT == 21 ? bvalid && !wait_b : FAULT == 23 ? bvalid || s_axi_control_AWVALID
                              : FAULT == 25 ? bvalid && s_axi_control_BREADY : FAULT == 27 ? bvalid || !ap_rst_n
                              : FAULT == 28 ? 0 : bvalid;
  assign s_axi_control_RVALID = FAULT == 22 ? rvalid && !wait_r : FAULT == 26 ? rvalid && s_axi_control_RREADY
                              : FAULT == 29 ? rvalid || bvalid : rvalid;
  assign s_axi_control_RDATA = FAULT == 24 ? rdata ^ (wait_r ? 8 : 0) : rdata;
  // --- memory
  assign m_axi_gmem_ARADDR = a + 4 * word, m_axi_gmem_ARLEN = READS - 1, m_axi_gmem_ARSIZE = 2;
  assign m_axi_gmem_ARBURST = FAULT == 46 ? 3 : 1;
  assign m_axi_gmem_ARVALID = (state == ASK && !(FAULT == 31 && wait_ar)) || (FAULT == 44 && !ap_rst_n);
  assign m_axi_gmem_RREADY = state == READ;
  assign m_axi_gmem_AWADDR = c + 4 * word + (FAULT == 35 && wait_aw ? 4 : 0), m_axi_gmem_AWLEN = WRITES - 1;
  assign m_axi_gmem_AWSIZE = 2, m_axi_gmem_AWBURST = 1;
  assign m_axi_gmem_AWVALID = state == WRITE && !aw && !(FAULT == 32 && wait_aw) && !(FAULT == 43 && !m_axi_gmem_AWREADY);
  assign m_axi_gmem_WVALID = state == WRITE && beat != WRITES && !(FAULT == 33 && wait_w) && !(FAULT == 41 && !aw);
  wire [31:0] x = kept[(FAULT == 37 ? beat : beat + (BURST == 64 ? word & 63 : 0)) & 63];
  assign m_axi_gmem_WDATA = (x[31] ? 0 : x) + (FAULT == 34 && wait_w);
  assign m_axi_gmem_WSTRB = FAULT == 40 ? 4'b0111 : 4'b1111;
  assign m_axi_gmem_WLAST = FAULT == 38 ? 0 : FAULT == 39 ? beat == WRITES - 2 : beat == WRITES - 1;
  assign m_axi_gmem_BREADY = FAULT == 42 || state == ANSWER;
  wire sent = beat == WRITES && aw;
  wire [7:0] next = word + WRITES;
  always @(posedge ap_clk)
    if (!ap_rst_n) begin
      state <= IDLE; word <= 0; beat <= 0; aw <= 0; done <= 0; bvalid <= 0; rvalid <= 0; a <= 0; c <= 0;
      wait_ar <= 0; wait_aw <= 0; wait_w <= 0; wait_b <= 0; wait_r <= 0;
    end else begin
      wait_ar <= m_axi_gmem_ARVALID && !m_axi_gmem_ARREADY;
      wait_aw <= m_axi_gmem_AWVALID && !m_axi_gmem_AWREADY;
      wait_w <= m_axi_gmem_WVALID && !m_axi_gmem_WREADY;
      wait_b <= s_axi_control_BVALID && !s_axi_control_BREADY;
      wait_r <= s_axi_control_RVALID && !s_axi_control_RREADY;
      if (read) begin
        rvalid <= 1;
        rdata <= s_axi_control_ARADDR == 0 ? {30'd0, done, state != IDLE} : 0;
        if (s_axi_control_ARADDR == 0) done <= 0;
      end else if (s_axi_control_RREADY && s_axi_control_RVALID) rvalid <= 0;
      case (state)
        ASK: if (m_axi_gmem_ARVALID && m_axi_gmem_ARREADY) begin state <= READ; beat <= 0; end
        READ: if (m_axi_gmem_RVALID) begin
          kept[beat & 63] <= m_axi_gmem_RDATA;
          beat <= beat + 1;
          if (m_axi_gmem_RLAST) begin state <= WRITE; beat <= 0; aw <= 0; end
        end
        WRITE: begin
          if (m_axi_gmem_AWVALID && m_axi_gmem_AWREADY) aw <= 1;
          if (m_axi_gmem_WVALID && m_axi_gmem_WREADY) beat <= beat + 1;
          if (sent && FAULT != 42) state <= ANSWER;
        end
        default: ;
      endcase
      if ((state == ANSWER && m_axi_gmem_BVALID) || (state == WRITE && sent && FAULT == 42)) begin
        word <= next & 63;
        aw <= 0;
        beat <= 0;
        if (next >= 64) done <= 1;
        state <= next >= 64 ? IDLE : FAULT == 36 ? WRITE : ASK;
      end
      if (write) begin
        bvalid <= 1;
        case (s_axi_control_AWADDR)
          6'h00: if (s_axi_control_WDATA[0] && state == IDLE) begin state <= ASK; word <= 0; end
          6'h10: if (state == IDLE) a <= {s_axi_control_WDATA[31:6], 6'd0};
          6'h1c: if (state == IDLE) c <= {s_axi_control_WDATA[31:6], 6'd0};
          default: ;
        endcase
      end else if (s_axi_control_BREADY && (s_axi_control_BVALID || FAULT == 28)) bvalid <= 0;
    end
endmodule
