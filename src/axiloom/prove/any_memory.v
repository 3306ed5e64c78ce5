// A memory whose content may be anything, but for the word that each port has read last: that is kept, as what is
// written changes it. For memories of so many bits that no prover takes them as they are (LIMIT comes before).
(* techmap_celltype = "$mem_v2" *)
module axiloom_any_memory (
    RD_CLK, RD_EN, RD_ARST, RD_SRST, RD_ADDR, RD_DATA, WR_CLK, WR_EN, WR_ADDR, WR_DATA
);
    parameter MEMID = "";
    parameter SIZE = 0;
    parameter OFFSET = 0;
    parameter ABITS = 1;
    parameter WIDTH = 1;
    parameter INIT = 1'bx;
    parameter RD_PORTS = 1;
    parameter RD_CLK_ENABLE = 1'b0;
    parameter RD_CLK_POLARITY = 1'b1;
    parameter RD_TRANSPARENCY_MASK = 1'b0;
    parameter RD_COLLISION_X_MASK = 1'b0;
    parameter RD_WIDE_CONTINUATION = 1'b0;
    parameter RD_CE_OVER_SRST = 1'b0;
    parameter RD_ARST_VALUE = 1'bx;
    parameter RD_SRST_VALUE = 1'bx;
    parameter RD_INIT_VALUE = 1'bx;
    parameter WR_PORTS = 1;
    parameter WR_CLK_ENABLE = 1'b1;
    parameter WR_CLK_POLARITY = 1'b1;
    parameter WR_PRIORITY_MASK = 1'b0;
    parameter WR_WIDE_CONTINUATION = 1'b0;
    input [RD_PORTS-1:0] RD_CLK, RD_EN, RD_ARST, RD_SRST;
    input [RD_PORTS*ABITS-1:0] RD_ADDR;
    output [RD_PORTS*WIDTH-1:0] RD_DATA;
    input [WR_PORTS-1:0] WR_CLK;
    input [WR_PORTS*WIDTH-1:0] WR_EN, WR_DATA;
    input [WR_PORTS*ABITS-1:0] WR_ADDR;
    wire [1023:0] _TECHMAP_DO_ = "proc";
    wire _TECHMAP_FAIL_ = SIZE * WIDTH <= `LIMIT || WR_PORTS == 0 || RD_PORTS == 0 || RD_CLK_ENABLE != 0;
    genvar i;
    generate for (i = 0; i < RD_PORTS; i = i + 1) begin : port
        wire [ABITS-1:0] addr = RD_ADDR[i*ABITS +: ABITS];
        (* keep *) wire [WIDTH-1:0] axiloom_any;
        reg [ABITS-1:0] last;
        reg [WIDTH-1:0] word, after;
        reg known = 0;
        wire [WIDTH-1:0] now = known && addr == last ? word : axiloom_any;
        assign RD_DATA[i*WIDTH +: WIDTH] = now;
        integer w;
        always @* begin
            after = now;
            for (w = 0; w < WR_PORTS; w = w + 1)
                if (WR_ADDR[w*ABITS +: ABITS] == addr)
                    after = (after & ~WR_EN[w*WIDTH +: WIDTH]) | (WR_DATA[w*WIDTH +: WIDTH] & WR_EN[w*WIDTH +: WIDTH]);
        end
        always @(posedge WR_CLK[0]) begin
            last  <= addr;
            word  <= after;
            known <= 1;
        end
    end endgenerate
endmodule
