// Writes a stream to memory in bursts of four beats, from an address that it is started with.
module store (
    input  wire        clk, rst_n,
    input  wire        go, input wire [31:0] from, output wire busy,
    input  wire [31:0] s_tdata, input wire s_tvalid, output wire s_tready,
    output reg  [31:0] m_axi_awaddr, output wire [7:0] m_axi_awlen, output wire [2:0] m_axi_awsize,
    output wire [1:0]  m_axi_awburst, output reg m_axi_awvalid, input wire m_axi_awready,
    output wire [31:0] m_axi_wdata, output wire [3:0] m_axi_wstrb, output wire m_axi_wlast, m_axi_wvalid,
    input  wire        m_axi_wready,
    input  wire [1:0]  m_axi_bresp, input wire m_axi_bvalid, output wire m_axi_bready
);
    reg sends, waits;
    reg [1:0] beat;
    assign busy = m_axi_awvalid || sends || waits;
    assign m_axi_awlen = 3, m_axi_awsize = 2, m_axi_awburst = 1, m_axi_wstrb = 15;
    assign m_axi_wdata  = s_tdata;
    assign m_axi_wvalid = sends && s_tvalid;
    assign s_tready     = sends && m_axi_wready;
    assign m_axi_wlast  = beat == 3;
    assign m_axi_bready = 1;
    always @(posedge clk)
        if (!rst_n) begin m_axi_awvalid <= 0; sends <= 0; waits <= 0; beat <= 0; end
        else begin
            if (m_axi_awready) m_axi_awvalid <= 0;
            if (go && !busy) begin
                m_axi_awvalid <= 1; m_axi_awaddr <= {from[31:4], 4'd0}; sends <= 1; waits <= 1;
            end
            if (m_axi_wvalid && m_axi_wready) begin
                beat <= beat + 1;
                if (m_axi_wlast) sends <= 0;
            end
            if (m_axi_bvalid) waits <= 0;
        end
endmodule
