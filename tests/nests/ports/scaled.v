// By hand: C = alpha * A + C on int32, A and C 3 x 6, behind 64-bit ports. In: alpha, A, C. Back: C.
module scaled (
    input aclk, input aresetn,
    input [63:0] s_axis_tdata, input s_axis_tvalid, output s_axis_tready, input s_axis_tlast,
    output [63:0] m_axis_tdata, output m_axis_tvalid, input m_axis_tready, output m_axis_tlast
);
    reg [31:0] alpha;
    reg [63:0] a [0:8];
    reg [4:0] beat;  // 0: alpha; 1 to 9: A; 10 to 18: C, which passes
    wire passes = beat > 9;
    wire moves = s_axis_tvalid & s_axis_tready;
    wire [63:0] held = a[beat - 10];
    assign s_axis_tready = passes ? m_axis_tready : 1'b1;
    assign m_axis_tvalid = passes & s_axis_tvalid;
    assign m_axis_tlast = beat == 18;
    assign m_axis_tdata = {alpha * held[63:32] + s_axis_tdata[63:32], alpha * held[31:0] + s_axis_tdata[31:0]};
    always @(posedge aclk)
        if (!aresetn) beat <= 0;
        else if (moves) begin
            beat <= beat == 18 ? 0 : beat + 1;
            if (beat == 0) alpha <= s_axis_tdata[31:0];
            else if (!passes) a[beat - 1] <= s_axis_tdata;
        end
endmodule
