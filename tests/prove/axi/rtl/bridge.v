// AXI4-Lite from one side to the other, one access at a time; the addresses of the other side are higher.
module bridge (
    input  wire        aclk, aresetn,
    input  wire [7:0]  s_awaddr, input wire s_awvalid, output wire s_awready,
    input  wire [31:0] s_wdata, input wire s_wvalid, output wire s_wready,
    output wire [1:0]  s_bresp, output wire s_bvalid, input wire s_bready,
    input  wire [7:0]  s_araddr, input wire s_arvalid, output wire s_arready,
    output wire [31:0] s_rdata, output wire [1:0] s_rresp, output wire s_rvalid, input wire s_rready,
    output reg  [15:0] m_awaddr, output reg m_awvalid, input wire m_awready,
    output reg  [31:0] m_wdata, output reg m_wvalid, input wire m_wready,
    input  wire [1:0]  m_bresp, input wire m_bvalid, output wire m_bready,
    output reg  [15:0] m_araddr, output reg m_arvalid, input wire m_arready,
    input  wire [31:0] m_rdata, input wire [1:0] m_rresp, input wire m_rvalid, output wire m_rready
);
    reg writes, reads;
    wire both = s_awvalid && s_wvalid && !writes;
    assign s_awready = both, s_wready = both;
    assign s_bvalid = writes && m_bvalid, s_bresp = m_bresp[1] ? m_bresp : 0, m_bready = writes && s_bready;
    assign s_arready = !reads;
    assign s_rvalid = reads && m_rvalid, s_rdata = m_rdata, s_rresp = m_rresp[1] ? m_rresp : 0;
    assign m_rready = reads && s_rready;
    always @(posedge aclk)
        if (!aresetn) begin
            writes <= 0; reads <= 0; m_awvalid <= 0; m_wvalid <= 0; m_arvalid <= 0;
        end else begin
            if (m_awready) m_awvalid <= 0;
            if (m_wready) m_wvalid <= 0;
            if (m_arready) m_arvalid <= 0;
            if (both) begin
                writes <= 1; m_awvalid <= 1; m_wvalid <= 1; m_awaddr <= {8'h43, s_awaddr}; m_wdata <= s_wdata;
            end else if (s_bvalid && s_bready) writes <= 0;
            if (s_arvalid && s_arready) begin reads <= 1; m_arvalid <= 1; m_araddr <= {8'h43, s_araddr}; end
            else if (s_rvalid && s_rready) reads <= 0;
        end
endmodule
