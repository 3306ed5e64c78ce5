// What comes in goes out again, one beat later.
`default_nettype none
module fifo (
    input  wire        aclk,
    input  wire        aresetn,
    input  wire [31:0] s_axis_tdata,
    input  wire        s_axis_tvalid,
    output wire        s_axis_tready,
    input  wire        s_axis_tlast,
    output reg  [31:0] m_axis_tdata,
    output reg         m_axis_tvalid,
    input  wire        m_axis_tready,
    output reg         m_axis_tlast
);
    assign s_axis_tready = !m_axis_tvalid || m_axis_tready;
    always @(posedge aclk) begin
        if (!aresetn) m_axis_tvalid <= 0;
        else if (s_axis_tready) m_axis_tvalid <= s_axis_tvalid;
        if (s_axis_tready) begin
            m_axis_tdata <= s_axis_tdata;
            m_axis_tlast <= s_axis_tlast;
        end
    end
endmodule
