// Pins behind AXI4-Lite: word 0 is what is driven, word 1 what the pins are.
// It has a fault that boards rarely show: can you see it? `axiloom prove axi --rtl gpio.v` does.
module gpio (
    input  wire        S_AXI_ACLK,
    input  wire        S_AXI_ARESETN,
    input  wire [3:0]  S_AXI_AWADDR,
    input  wire        S_AXI_AWVALID,
    output wire        S_AXI_AWREADY,
    input  wire [31:0] S_AXI_WDATA,
    input  wire [3:0]  S_AXI_WSTRB,
    input  wire        S_AXI_WVALID,
    output wire        S_AXI_WREADY,
    output wire [1:0]  S_AXI_BRESP,
    output reg         S_AXI_BVALID,
    input  wire        S_AXI_BREADY,
    input  wire [3:0]  S_AXI_ARADDR,
    input  wire        S_AXI_ARVALID,
    output wire        S_AXI_ARREADY,
    output wire [31:0] S_AXI_RDATA,
    output wire [1:0]  S_AXI_RRESP,
    output reg         S_AXI_RVALID,
    input  wire        S_AXI_RREADY,
    output reg  [31:0] PINS_OUT,
    input  wire [31:0] PINS_IN
);
    reg chosen;  // the word that is read

    wire write = S_AXI_AWVALID & S_AXI_WVALID & ~S_AXI_BVALID;
    assign S_AXI_AWREADY = write;
    assign S_AXI_WREADY  = write;
    assign S_AXI_ARREADY = ~S_AXI_RVALID;
    assign S_AXI_BRESP   = 2'b00;
    assign S_AXI_RRESP   = 2'b00;
    assign S_AXI_RDATA   = chosen ? PINS_IN : PINS_OUT;

    integer i;
    always @(posedge S_AXI_ACLK) begin
        if (S_AXI_BREADY) S_AXI_BVALID <= 0;
        if (write) begin
            S_AXI_BVALID <= 1;
            for (i = 0; i < 4; i = i + 1)
                if (S_AXI_WSTRB[i] && S_AXI_AWADDR[3:2] == 0) PINS_OUT[8*i +: 8] <= S_AXI_WDATA[8*i +: 8];
        end
        if (S_AXI_RREADY) S_AXI_RVALID <= 0;
        if (S_AXI_ARVALID && S_AXI_ARREADY) begin
            S_AXI_RVALID <= 1;
            chosen       <= S_AXI_ARADDR[2];
        end
        if (!S_AXI_ARESETN) begin
            S_AXI_BVALID <= 0;
            S_AXI_RVALID <= 0;
            PINS_OUT     <= 0;
        end
    end
endmodule
