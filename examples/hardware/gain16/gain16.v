// Samples of 16 bits times a gain, on streams of 16 bits. The gain is a register, in the style of Vivado's template for
// AXI4-Lite: address and data of a write are taken in one cycle.
//
//   0x00  gain, 16 bits
module gain16 (
    input  wire        ACLK,
    input  wire        ARESETN,

    input  wire [3:0]  S_AXI_AWADDR,
    input  wire [2:0]  S_AXI_AWPROT,
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
    input  wire [2:0]  S_AXI_ARPROT,
    input  wire        S_AXI_ARVALID,
    output wire        S_AXI_ARREADY,
    output wire [31:0] S_AXI_RDATA,
    output wire [1:0]  S_AXI_RRESP,
    output reg         S_AXI_RVALID,
    input  wire        S_AXI_RREADY,

    input  wire [15:0] S_AXIS_TDATA,
    input  wire        S_AXIS_TVALID,
    output wire        S_AXIS_TREADY,
    input  wire        S_AXIS_TLAST,

    output reg  [15:0] M_AXIS_TDATA,
    output reg         M_AXIS_TVALID,
    input  wire        M_AXIS_TREADY
);
    reg [15:0] gain;

    wire write = S_AXI_AWVALID && S_AXI_WVALID && !S_AXI_BVALID;
    assign S_AXI_AWREADY = write;
    assign S_AXI_WREADY  = write;
    assign S_AXI_BRESP   = 2'b00;
    assign S_AXI_ARREADY = !S_AXI_RVALID;
    assign S_AXI_RDATA   = {16'd0, gain};
    assign S_AXI_RRESP   = 2'b00;

    wire room = !M_AXIS_TVALID || M_AXIS_TREADY;
    assign S_AXIS_TREADY = room;

    always @(posedge ACLK) begin
        if (!ARESETN) begin
            S_AXI_BVALID  <= 0;
            S_AXI_RVALID  <= 0;
            M_AXIS_TVALID <= 0;
            gain <= 0;
        end else begin
            if (write) S_AXI_BVALID <= 1;
            else if (S_AXI_BREADY) S_AXI_BVALID <= 0;
            if (write && S_AXI_AWADDR == 0) gain <= S_AXI_WDATA[15:0];
            if (S_AXI_ARVALID && S_AXI_ARREADY) S_AXI_RVALID <= 1;
            else if (S_AXI_RREADY) S_AXI_RVALID <= 0;
            if (room) M_AXIS_TVALID <= S_AXIS_TVALID;
        end
        if (room) M_AXIS_TDATA <= S_AXIS_TDATA * gain;
    end

    wire unused = &{S_AXI_AWPROT, S_AXI_ARPROT, S_AXI_WSTRB, S_AXI_ARADDR, S_AXIS_TLAST};
endmodule
