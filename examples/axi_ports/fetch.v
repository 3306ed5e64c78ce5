// Reads a buffer from memory and streams it out: AXI4 in bursts of up to 16 beats, none across 4 KiB.
// Start it with `go`, a byte address that is a multiple of 4, and a number of words that is not zero.
module fetch (
    input  wire        clk,
    input  wire        rst,
    input  wire        go,
    input  wire [31:0] from,
    input  wire [15:0] words,
    output wire        busy,

    output reg  [31:0] m_axi_araddr,
    output reg  [7:0]  m_axi_arlen,
    output wire [2:0]  m_axi_arsize,
    output wire [1:0]  m_axi_arburst,
    output reg         m_axi_arvalid,
    input  wire        m_axi_arready,
    input  wire [31:0] m_axi_rdata,
    input  wire [1:0]  m_axi_rresp,
    input  wire        m_axi_rlast,
    input  wire        m_axi_rvalid,
    output wire        m_axi_rready,

    output wire [31:0] out_tdata,
    output wire        out_tvalid,
    input  wire        out_tready,
    output wire        out_tlast
);
    reg [29:0] address;      // of the next word
    reg [15:0] left;         // words not yet asked for
    reg        waits;        // for the data of a burst

    wire [9:0] to_page = 10'd1023 - address[9:0];                       // words behind this one in its page
    wire [3:0] in_page = (to_page < 10'd15) ? to_page[3:0] : 4'd15;
    wire [3:0] beats   = (left - 16'd1 < {12'd0, in_page}) ? left[3:0] - 4'd1 : in_page;

    assign busy          = (left != 0) || waits || m_axi_arvalid;
    assign m_axi_arsize  = 3'd2;
    assign m_axi_arburst = 2'd1;

    always @(posedge clk)
        if (rst) begin
            left          <= 0;
            waits         <= 0;
            m_axi_arvalid <= 0;
        end else begin
            if (m_axi_arvalid && m_axi_arready) m_axi_arvalid <= 0;
            if (go && !busy) begin
                address <= from[31:2];
                left    <= words;
            end else if (left != 0 && !waits) begin
                m_axi_arvalid <= 1;
                m_axi_araddr  <= {address, 2'd0};
                m_axi_arlen   <= {4'd0, beats};
                address       <= address + beats + 1;
                left          <= left - beats - 1;
                waits         <= 1;
            end
            if (m_axi_rvalid && m_axi_rready && m_axi_rlast) waits <= 0;
        end

    assign out_tdata    = m_axi_rdata;
    assign out_tvalid   = m_axi_rvalid;
    assign out_tlast    = m_axi_rlast && left == 0;
    assign m_axi_rready = out_tready;
endmodule
