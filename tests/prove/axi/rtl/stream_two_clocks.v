// A stream block with a clock and a reset for each of its ports, as block designs connect them: to one clock.
module stream_two_clocks (
    input  wire        s00_axis_aclk, s00_axis_aresetn,
    input  wire [31:0] s00_axis_tdata, input wire s00_axis_tvalid, s00_axis_tlast, output wire s00_axis_tready,
    input  wire        m00_axis_aclk, m00_axis_aresetn,
    output reg  [31:0] m00_axis_tdata, output reg m00_axis_tvalid, m00_axis_tlast, input wire m00_axis_tready
);
    assign s00_axis_tready = s00_axis_aresetn && (!m00_axis_tvalid || m00_axis_tready);
    always @(posedge m00_axis_aclk)
        if (!m00_axis_aresetn) m00_axis_tvalid <= 0;
        else if (!m00_axis_tvalid || m00_axis_tready) begin
            m00_axis_tvalid <= s00_axis_tvalid;
            m00_axis_tdata  <= ~s00_axis_tdata;
            m00_axis_tlast  <= s00_axis_tlast;
        end
endmodule
