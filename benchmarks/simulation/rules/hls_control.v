// Registers as Vitis HLS makes them: a state machine for writes, another for reads; ap_start and ap_done at 0x00, words
// at 0x10 and 0x1c: addresses, which are multiples of 64, and stay while it runs. FAULT 21 to 29 breaks it.
module hls_control #(parameter FAULT = 0) (
  input wire ACLK, input wire ARESET,
  input wire [5:0] AWADDR, input wire AWVALID, output wire AWREADY,
  input wire [31:0] WDATA, input wire [3:0] WSTRB, input wire WVALID, output wire WREADY,
  output wire [1:0] BRESP, output wire BVALID, input wire BREADY,
  input wire [5:0] ARADDR, input wire ARVALID, output wire ARREADY,
  output wire [31:0] RDATA, output wire [1:0] RRESP, output wire RVALID, input wire RREADY,
  output reg ap_start, input wire ap_done, input wire ap_ready, output reg [31:0] a, output reg [31:0] c
);
  localparam WRIDLE = 0, WRDATA = 1, WRRESP = 2, RDIDLE = 0, RDDATA = 1;
  reg [1:0] wstate, rstate;
  reg [5:0] waddr;
  reg [31:0] rdata;
  reg done, waited_b, waited_r;
  assign AWREADY = wstate == WRIDLE, WREADY = wstate == WRDATA, BRESP = 0, RRESP = 0, ARREADY = rstate == RDIDLE;
  assign BVALID = FAULT == 21 ? wstate == WRRESP && !waited_b : FAULT == 23 ? wstate == WRDATA || wstate == WRRESP
                : FAULT == 25 ? wstate == WRRESP && BREADY : FAULT == 27 ? wstate == WRRESP || ARESET
                : FAULT == 28 ? 0 : wstate == WRRESP;
  assign RVALID = FAULT == 22 ? rstate == RDDATA && !waited_r : FAULT == 26 ? rstate == RDDATA && RREADY
                : FAULT == 29 ? rstate == RDDATA || (rstate == RDIDLE && ARVALID && !ARREADY) || wstate == WRRESP
                : rstate == RDDATA;
  assign RDATA = FAULT == 24 ? rdata + (waited_r ? 4 : 0) : rdata;
  always @(posedge ACLK)
    if (ARESET) begin
      wstate <= WRIDLE; rstate <= RDIDLE; ap_start <= 0; done <= 0; waited_b <= 0; waited_r <= 0; a <= 0; c <= 0; rdata <= 0;
    end else begin
      waited_b <= BVALID && !BREADY;
      waited_r <= RVALID && !RREADY;
      case (wstate)
        WRIDLE: if (AWVALID) begin waddr <= AWADDR; wstate <= WRDATA; end
        WRDATA: if (WVALID) wstate <= WRRESP;
        default: if (BREADY && (BVALID || FAULT == 28)) wstate <= WRIDLE;
      endcase
      if (ap_ready) ap_start <= 0;
      if (ap_done) done <= 1;
      if (rstate == RDIDLE && ARVALID) begin
        rstate <= RDDATA;
        rdata <= ARADDR == 0 ? {30'd0, done || ap_done, ap_start} : ARADDR == 6'h10 ? a : ARADDR == 6'h1c ? c : 0;
        if (ARADDR == 0) done <= 0;
      end else if (rstate == RDDATA && RREADY && RVALID) rstate <= RDIDLE;
      if (WVALID && WREADY) case (waddr)
        6'h00: if (WDATA[0]) ap_start <= 1;
        6'h10: if (!ap_start) a <= {WDATA[31:6], 6'd0};
        6'h1c: if (!ap_start) c <= {WDATA[31:6], 6'd0};
        default: ;
      endcase
    end
endmodule
