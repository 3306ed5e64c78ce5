// Right: registers that take the data of a write before its address, and answer a read in the cycle of its address; READY
// of the input waits for VALID; the result is buffered until the last word is there. 64 words, max(x, 0).
module loose_stream #(parameter FAULT = 0) (
  input wire aclk, input wire aresetn,
  input wire [5:0] s_axi_awaddr, input wire s_axi_awvalid, output wire s_axi_awready,
  input wire [31:0] s_axi_wdata, input wire [3:0] s_axi_wstrb, input wire s_axi_wvalid, output wire s_axi_wready,
  output wire [1:0] s_axi_bresp, output reg s_axi_bvalid, input wire s_axi_bready,
  input wire [5:0] s_axi_araddr, input wire s_axi_arvalid, output wire s_axi_arready,
  output wire [31:0] s_axi_rdata, output wire [1:0] s_axi_rresp, output wire s_axi_rvalid, input wire s_axi_rready,
  input wire [31:0] s_axis_tdata, input wire s_axis_tvalid, output wire s_axis_tready, input wire s_axis_tlast,
  output wire [31:0] m_axis_tdata, output wire m_axis_tvalid, input wire m_axis_tready, output wire m_axis_tlast
);
  reg has_data, waits, running, done;
  reg [31:0] data, held, words [0:63];
  reg [6:0] taken, sent;
  // A write: the word first, then the address.
  assign s_axi_wready = !has_data, s_axi_awready = has_data && !s_axi_bvalid, s_axi_bresp = 0, s_axi_rresp = 0;
  wire [31:0] now = s_axi_araddr == 0 ? {30'd0, done, running} : 0;
  assign s_axi_arready = !waits, s_axi_rvalid = waits || s_axi_arvalid, s_axi_rdata = waits ? held : now;
  assign s_axis_tready = s_axis_tvalid && running && taken != 64;
  assign m_axis_tvalid = taken == 64, m_axis_tdata = words[sent[5:0]][31] ? 0 : words[sent[5:0]], m_axis_tlast = sent == 63;
  always @(posedge aclk)
    if (!aresetn) begin
      has_data <= 0; waits <= 0; running <= 0; done <= 0; taken <= 0; sent <= 0; s_axi_bvalid <= 0;
    end else begin
      if (s_axi_wvalid && s_axi_wready) begin has_data <= 1; data <= s_axi_wdata; end
      if (s_axi_awvalid && s_axi_awready) begin
        has_data <= 0; s_axi_bvalid <= 1;
        if (s_axi_awaddr == 0 && data[0]) begin running <= 1; done <= 0; end
      end else if (s_axi_bready) s_axi_bvalid <= 0;
      if (s_axi_rvalid && !waits && !s_axi_rready) held <= now;
      waits <= s_axi_rvalid && !s_axi_rready;
      if (s_axis_tvalid && s_axis_tready) begin words[taken[5:0]] <= s_axis_tdata; taken <= taken + 1; end
      if (m_axis_tvalid && m_axis_tready) begin
        sent <= sent + 1;
        if (m_axis_tlast) begin sent <= 0; taken <= 0; running <= 0; done <= 1; end
      end
    end
endmodule
