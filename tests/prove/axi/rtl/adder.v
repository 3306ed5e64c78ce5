// Two streams are added word by word: nothing is taken from one before the other has a word.
module adder (
    input  wire       clk,
    input  wire [7:0] a_tdata, input wire a_tvalid, output wire a_tready,
    input  wire [7:0] b_tdata, input wire b_tvalid, output wire b_tready,
    output wire [7:0] sum_tdata, output wire sum_tvalid, input wire sum_tready
);
    assign sum_tdata  = a_tdata + b_tdata;
    assign sum_tvalid = a_tvalid && b_tvalid;
    assign a_tready   = b_tvalid && sum_tready;
    assign b_tready   = a_tvalid && sum_tready;
endmodule
