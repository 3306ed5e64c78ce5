// A layer of a neural network for packets of 4 numbers: 3 sums, weight (i, o) = i + 2 o - 3, then max(0, sum).
`default_nettype none
module dense (
    input  wire               aclk,
    input  wire               aresetn,
    input  wire signed [31:0] s_axis_tdata,
    input  wire               s_axis_tvalid,
    output wire               s_axis_tready,
    input  wire               s_axis_tlast,
    output wire        [31:0] m_axis_tdata,
    output wire               m_axis_tvalid,
    input  wire               m_axis_tready,
    output wire               m_axis_tlast
);
    reg signed [31:0] sum [0:2];
    reg [2:0] taken;
    reg [1:0] given;
    integer o;
    wire full = taken == 4;
    assign s_axis_tready = !full;
    assign m_axis_tvalid = full;
    assign m_axis_tdata  = sum[given][31] ? 32'd0 : sum[given];
    assign m_axis_tlast  = given == 2;
    always @(posedge aclk) begin
        if (!aresetn) begin
            taken <= 0;
            given <= 0;
        end else if (!full && s_axis_tvalid) begin
            for (o = 0; o < 3; o = o + 1)
                sum[o] <= (taken == 0 ? 0 : sum[o]) + s_axis_tdata * ($signed({1'b0, taken}) + 2 * o - 3);
            taken <= taken + 1;
        end else if (full && m_axis_tready) begin
            given <= given == 2 ? 0 : given + 1;
            if (given == 2) taken <= 0;
        end
    end
endmodule
