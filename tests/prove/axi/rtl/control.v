// Control registers as synthesis from C writes them: one machine of states for writes, one for reads, an enable.
module control (
    input  wire        ACLK, ARESET, ACLK_EN,
    input  wire [4:0]  AWADDR, input wire AWVALID, output wire AWREADY,
    input  wire [31:0] WDATA, input wire [3:0] WSTRB, input wire WVALID, output wire WREADY,
    output wire [1:0]  BRESP, output wire BVALID, input wire BREADY,
    input  wire [4:0]  ARADDR, input wire ARVALID, output wire ARREADY,
    output wire [31:0] RDATA, output wire [1:0] RRESP, output wire RVALID, input wire RREADY,
    output wire [31:0] size, output wire ap_start, input wire ap_done
);
    localparam WRIDLE = 0, WRDATA = 1, WRRESP = 2, WRRESET = 3, RDIDLE = 0, RDDATA = 1, RDRESET = 2;
    reg [1:0] wstate = WRRESET, wnext, rstate = RDRESET, rnext;
    reg [4:0] waddr;
    reg [31:0] rdata, int_size = 0;
    reg int_start = 0;
    assign AWREADY = wstate == WRIDLE;
    assign WREADY  = wstate == WRDATA;
    assign BVALID  = wstate == WRRESP;
    assign BRESP   = 0;
    wire aw = AWVALID & AWREADY, w = WVALID & WREADY;
    always @(posedge ACLK) if (ARESET) wstate <= WRRESET; else if (ACLK_EN) wstate <= wnext;
    always @(*)
        case (wstate)
            WRIDLE:  wnext = AWVALID ? WRDATA : WRIDLE;
            WRDATA:  wnext = WVALID ? WRRESP : WRDATA;
            WRRESP:  wnext = BREADY ? WRIDLE : WRRESP;
            default: wnext = WRIDLE;
        endcase
    always @(posedge ACLK) if (ACLK_EN) if (aw) waddr <= AWADDR;
    assign ARREADY = rstate == RDIDLE;
    assign RDATA   = rdata;
    assign RRESP   = 0;
    assign RVALID  = rstate == RDDATA;
    wire ar = ARVALID & ARREADY;
    always @(posedge ACLK) if (ARESET) rstate <= RDRESET; else if (ACLK_EN) rstate <= rnext;
    always @(*)
        case (rstate)
            RDIDLE:  rnext = ARVALID ? RDDATA : RDIDLE;
            RDDATA:  rnext = RREADY & RVALID ? RDIDLE : RDDATA;
            default: rnext = RDIDLE;
        endcase
    always @(posedge ACLK) if (ACLK_EN) if (ar) rdata <= ARADDR[4] ? int_size : {31'd0, int_start};
    always @(posedge ACLK)
        if (ARESET) int_start <= 0;
        else if (ACLK_EN) begin
            if (w && waddr == 0 && WSTRB[0] && WDATA[0]) int_start <= 1;
            else if (ap_done) int_start <= 0;
        end
    always @(posedge ACLK) if (ARESET) int_size <= 0; else if (ACLK_EN) if (w && waddr == 5'h10) int_size <= WDATA;
    assign size = int_size;
    assign ap_start = int_start;
endmodule
