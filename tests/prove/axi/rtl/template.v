// AXI4-Lite in the manner of a template that many have copied: READY is a pulse of one cycle, for which the
// registers of VALID are asked. ROUND 0 and 1 are its two versions, which lose answers; 2 is mended.
module template #(parameter ROUND = 2) (
    input  wire        S_AXI_ACLK, S_AXI_ARESETN,
    input  wire [3:0]  S_AXI_AWADDR, input wire [2:0] S_AXI_AWPROT, input wire S_AXI_AWVALID, output wire S_AXI_AWREADY,
    input  wire [31:0] S_AXI_WDATA, input wire [3:0] S_AXI_WSTRB, input wire S_AXI_WVALID, output wire S_AXI_WREADY,
    output wire [1:0]  S_AXI_BRESP, output wire S_AXI_BVALID, input wire S_AXI_BREADY,
    input  wire [3:0]  S_AXI_ARADDR, input wire [2:0] S_AXI_ARPROT, input wire S_AXI_ARVALID, output wire S_AXI_ARREADY,
    output wire [31:0] S_AXI_RDATA, output wire [1:0] S_AXI_RRESP, output wire S_AXI_RVALID, input wire S_AXI_RREADY
);
    reg awready, wready, bvalid, arready, rvalid, aw_en;
    reg [3:0] awaddr, araddr;
    reg [31:0] rdata, slv_reg0, slv_reg1;
    assign S_AXI_AWREADY = awready, S_AXI_WREADY = wready, S_AXI_BVALID = bvalid, S_AXI_BRESP = 0;
    assign S_AXI_ARREADY = arready, S_AXI_RVALID = rvalid, S_AXI_RDATA = rdata, S_AXI_RRESP = 0;
    // The first version takes a second write while the answer of the first waits; the second one does not.
    wire may_write = ROUND == 0 || (ROUND == 1 ? aw_en : !bvalid);
    wire may_read  = ROUND < 2 || !rvalid;
    wire wren = wready && S_AXI_WVALID && awready && S_AXI_AWVALID;
    wire rden = arready && S_AXI_ARVALID && !rvalid;
    always @(posedge S_AXI_ACLK)
        if (!S_AXI_ARESETN) begin
            awready <= 0; wready <= 0; bvalid <= 0; arready <= 0; rvalid <= 0; aw_en <= 1; awaddr <= 0; araddr <= 0;
            slv_reg0 <= 0; slv_reg1 <= 0;
        end else begin
            if (!awready && S_AXI_AWVALID && S_AXI_WVALID && may_write) begin
                awready <= 1; aw_en <= 0; awaddr <= S_AXI_AWADDR;
            end else begin
                awready <= 0;
                if (S_AXI_BREADY && bvalid) aw_en <= 1;
            end
            wready <= !wready && S_AXI_AWVALID && S_AXI_WVALID && may_write;
            if (wren) if (awaddr[2]) slv_reg1 <= S_AXI_WDATA; else slv_reg0 <= S_AXI_WDATA;
            if (wren && !bvalid) bvalid <= 1;
            else if (S_AXI_BREADY && bvalid) bvalid <= 0;
            if (!arready && S_AXI_ARVALID && may_read) begin arready <= 1; araddr <= S_AXI_ARADDR; end
            else arready <= 0;
            if (arready && S_AXI_ARVALID && !rvalid) rvalid <= 1;
            else if (rvalid && S_AXI_RREADY) rvalid <= 0;
            if (rden) rdata <= araddr[2] ? slv_reg1 : slv_reg0;
        end
endmodule
