// A stream's FIFO in a memory, with a register behind it.
module fifo (
    input  wire       clk, resetn,
    input  wire [7:0] in_tdata, input wire in_tvalid, in_tlast, output wire in_tready,
    output reg  [7:0] out_tdata, output reg out_tvalid, out_tlast, input wire out_tready
);
    reg [8:0] words [0:7];
    reg [3:0] head, tail;
    wire full = head - tail == 8, empty = head == tail;
    assign in_tready = !full;
    always @(posedge clk) begin
        if (in_tvalid && in_tready) begin words[head[2:0]] <= {in_tlast, in_tdata}; head <= head + 1; end
        if (!out_tvalid || out_tready) begin
            out_tvalid <= !empty;
            if (!empty) begin {out_tlast, out_tdata} <= words[tail[2:0]]; tail <= tail + 1; end
        end
        if (!resetn) begin head <= 0; tail <= 0; out_tvalid <= 0; end
    end
endmodule
