// Right: bursts of one beat of 128 bits; an address and its word are offered in one cycle, each until it is taken; a read
// is asked for while the word before is written. max(x, 0) of 64 words from a to c.
module beat_master #(parameter FAULT = 0, WIDTH = 128) (
`include "master_ports.vh"
);
`include "master_control.vh"
  reg [4:0] asked, taken, answered;
  reg ar, aw, w;
  reg [127:0] x;
  integer i;
  wire busy = ap_start && !ap_done, free = !aw && !w;
  assign m_axi_gmem_ARADDR = a + 16 * asked, m_axi_gmem_ARLEN = 0, m_axi_gmem_ARSIZE = 4, m_axi_gmem_ARBURST = 1;
  assign m_axi_gmem_ARVALID = ar, m_axi_gmem_RREADY = free;
  assign m_axi_gmem_AWADDR = c + 16 * (taken - 5'd1), m_axi_gmem_AWLEN = 0, m_axi_gmem_AWSIZE = 4, m_axi_gmem_AWBURST = 1;
  assign m_axi_gmem_AWVALID = aw, m_axi_gmem_WVALID = w, m_axi_gmem_WDATA = x, m_axi_gmem_WSTRB = 16'hFFFF;
  assign m_axi_gmem_WLAST = 1, m_axi_gmem_BREADY = 1;
  always @(posedge ap_clk)
    if (rst || ap_done) begin
      asked <= 0; taken <= 0; answered <= 0; ar <= 0; aw <= 0; w <= 0; ap_done <= 0;
    end else begin
      if (m_axi_gmem_ARVALID && m_axi_gmem_ARREADY) begin asked <= asked + 1; ar <= 0; end
      else if (busy && asked != 16) ar <= 1;
      if (m_axi_gmem_AWREADY) aw <= 0;
      if (m_axi_gmem_WREADY) w <= 0;
      if (m_axi_gmem_RVALID && m_axi_gmem_RREADY) begin
        for (i = 0; i < 4; i = i + 1) x[32*i +: 32] <= m_axi_gmem_RDATA[32*i+31] ? 0 : m_axi_gmem_RDATA[32*i +: 32];
        taken <= taken + 1; aw <= 1; w <= 1;
      end
      if (m_axi_gmem_BVALID) answered <= answered + 1;
      ap_done <= busy && answered == 16;
    end
endmodule
