// Right: each burst has an ID, and a word goes where the ID of its answer says. Data are offered before their address. All
// bursts are asked for at once; done when each ID is answered. max(x, 0) of 64 words from a to c.
module id_master #(parameter FAULT = 0, WIDTH = 32) (
`include "master_ports.vh"
  , output wire [3:0] m_axi_gmem_ARID, input wire [3:0] m_axi_gmem_RID,
  output wire [3:0] m_axi_gmem_AWID, input wire [3:0] m_axi_gmem_BID
);
`include "master_control.vh"
  reg [31:0] words [0:63];
  reg [2:0] at [0:7];
  reg [3:0] asked, offered;
  reg [6:0] arrived, sent;
  reg [2:0] pause;
  reg [7:0] answered;
  integer i;
  wire busy = ap_start && !ap_done;
  wire writes = busy && arrived == 64;
  wire [2:0] burst = 3'd7 - m_axi_gmem_RID[2:0];
  wire [31:0] x = words[sent[5:0]];
  assign m_axi_gmem_ARADDR = a + 32 * asked[2:0], m_axi_gmem_ARLEN = 7, m_axi_gmem_ARSIZE = 2, m_axi_gmem_ARBURST = 1;
  assign m_axi_gmem_ARVALID = busy && !asked[3], m_axi_gmem_ARID = 4'd15 - asked[2:0], m_axi_gmem_RREADY = 1;
  assign m_axi_gmem_AWADDR = c + 32 * offered[2:0], m_axi_gmem_AWLEN = 7, m_axi_gmem_AWSIZE = 2, m_axi_gmem_AWBURST = 1;
  assign m_axi_gmem_AWVALID = writes && !offered[3] && pause == 5, m_axi_gmem_AWID = offered ^ 4'd5;
  assign m_axi_gmem_WVALID = writes && sent != 64, m_axi_gmem_WDATA = x[31] ? 0 : x, m_axi_gmem_WSTRB = 15;
  assign m_axi_gmem_WLAST = sent[2:0] == 7, m_axi_gmem_BREADY = 1;
  always @(posedge ap_clk)
    if (rst || ap_done) begin
      asked <= 0; offered <= 0; arrived <= 0; sent <= 0; pause <= 0; answered <= 0; ap_done <= 0;
      for (i = 0; i < 8; i = i + 1) at[i] <= 0;
    end else begin
      if (m_axi_gmem_ARVALID && m_axi_gmem_ARREADY) asked <= asked + 1;
      if (m_axi_gmem_RVALID) begin
        words[{burst, at[burst]}] <= m_axi_gmem_RDATA;
        at[burst] <= at[burst] + 1;
        arrived <= arrived + 1;
      end
      if (writes && pause != 5) pause <= pause + 1;
      if (m_axi_gmem_AWVALID && m_axi_gmem_AWREADY) begin offered <= offered + 1; pause <= 0; end
      if (m_axi_gmem_WVALID && m_axi_gmem_WREADY) sent <= sent + 1;
      if (m_axi_gmem_BVALID) answered[m_axi_gmem_BID[2:0] ^ 3'd5] <= 1;
      ap_done <= busy && &answered;
    end
endmodule
