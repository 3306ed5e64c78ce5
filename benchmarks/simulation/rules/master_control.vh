// The registers of the masters, at s_axi_control: a start, and the addresses of 64 words that come and go.
  wire rst = !ap_rst_n;
  wire ap_start;
  wire [31:0] a, c;
  reg ap_done;
  hls_control #(.FAULT(FAULT)) control (.ACLK(ap_clk), .ARESET(rst),
    .AWADDR(s_axi_control_AWADDR), .AWVALID(s_axi_control_AWVALID), .AWREADY(s_axi_control_AWREADY),
    .WDATA(s_axi_control_WDATA), .WSTRB(s_axi_control_WSTRB), .WVALID(s_axi_control_WVALID), .WREADY(s_axi_control_WREADY),
    .BRESP(s_axi_control_BRESP), .BVALID(s_axi_control_BVALID), .BREADY(s_axi_control_BREADY),
    .ARADDR(s_axi_control_ARADDR), .ARVALID(s_axi_control_ARVALID), .ARREADY(s_axi_control_ARREADY),
    .RDATA(s_axi_control_RDATA), .RRESP(s_axi_control_RRESP), .RVALID(s_axi_control_RVALID), .RREADY(s_axi_control_RREADY),
    .ap_start(ap_start), .ap_done(ap_done), .ap_ready(ap_done), .a(a), .c(c));
