// Two streams become one, packet by packet, in turns.
module arbiter (
    input  wire       clk, rst,
    input  wire [7:0] a_tdata, input wire a_tvalid, a_tlast, output wire a_tready,
    input  wire [7:0] b_tdata, input wire b_tvalid, b_tlast, output wire b_tready,
    output wire [7:0] o_tdata, output wire o_tvalid, o_tlast, input wire o_tready
);
    reg busy, turn;             // whose packet it is; when not busy, who was last
    wire other = turn ? a_tvalid : b_tvalid;
    assign o_tdata  = turn ? b_tdata : a_tdata;
    assign o_tlast  = turn ? b_tlast : a_tlast;
    assign o_tvalid = busy && (turn ? b_tvalid : a_tvalid);
    assign a_tready = busy && !turn && o_tready;
    assign b_tready = busy && turn && o_tready;
    always @(posedge clk)
        if (rst) begin busy <= 0; turn <= 0; end
        else if (!busy) begin
            if (a_tvalid || b_tvalid) begin busy <= 1; turn <= other ? !turn : turn; end
        end else if (o_tvalid && o_tready && o_tlast) busy <= 0;
endmodule
