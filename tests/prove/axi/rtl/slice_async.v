// A register slice whose reset acts without the clock.
module slice_async (
    input  wire        aclk, aresetn,
    input  wire [15:0] s_axis_tdata, input wire s_axis_tvalid, s_axis_tlast, output wire s_axis_tready,
    output reg  [15:0] m_axis_tdata, output reg m_axis_tvalid, m_axis_tlast, input wire m_axis_tready
);
    assign s_axis_tready = !m_axis_tvalid || m_axis_tready;
    always @(posedge aclk or negedge aresetn)
        if (!aresetn) begin m_axis_tvalid <= 0; m_axis_tdata <= 0; m_axis_tlast <= 0; end
        else if (s_axis_tready) begin
            m_axis_tvalid <= s_axis_tvalid;
            m_axis_tdata  <= s_axis_tdata;
            m_axis_tlast  <= s_axis_tlast;
        end
endmodule
