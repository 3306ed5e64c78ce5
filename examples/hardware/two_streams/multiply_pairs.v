// C = A * B, element by element: a stream for A, one for B, and none of them has a TLAST. A pair is taken when both
// words are there and the last product has gone.
module multiply_pairs (
    input  wire        clk,
    input  wire        rst,
    input  wire [31:0] a_tdata,
    input  wire        a_tvalid,
    output wire        a_tready,
    input  wire [31:0] b_tdata,
    input  wire        b_tvalid,
    output wire        b_tready,
    output reg  [31:0] c_tdata,
    output reg         c_tvalid,
    input  wire        c_tready
);
    wire room = !c_tvalid || c_tready;
    wire take = room && a_tvalid && b_tvalid;
    assign a_tready = room && b_tvalid;
    assign b_tready = room && a_tvalid;

    always @(posedge clk) begin
        if (rst) c_tvalid <= 0;
        else if (room) c_tvalid <= take;
        if (take) c_tdata <= a_tdata * b_tdata;
    end
endmodule
