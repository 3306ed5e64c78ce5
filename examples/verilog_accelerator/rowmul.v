// A small accelerator as people bring it: one row of A times a resident 8x8 block of B.
//
// Instruction set (32-bit words, AXI-Stream):
//   0xB10C, then 64 words of B, row major (k, n)     load B
//   0xA0, then 8 words of A (one row)                C row := A row . B, sent back: 8 words, TLAST on the last
//
// The eight columns are multiplied at once, as each word of A arrives.
`default_nettype none
module rowmul (
    input  wire        aclk,
    input  wire        aresetn,
    input  wire [31:0] s_axis_tdata,
    input  wire        s_axis_tvalid,
    output wire        s_axis_tready,
    input  wire        s_axis_tlast,
    output wire [31:0] m_axis_tdata,
    output wire        m_axis_tvalid,
    input  wire        m_axis_tready,
    output wire        m_axis_tlast
);
    localparam [31:0] OP_LOAD_B = 32'hB10C, OP_ROW = 32'hA0;
    localparam [1:0] FETCH = 0, LOAD_B = 1, ROW = 2, SEND = 3;

    reg [1:0]  state;
    reg [5:0]  count;
    reg [31:0] b   [0:63];
    reg [31:0] acc [0:7];

    assign s_axis_tready = state != SEND;
    assign m_axis_tvalid = state == SEND;
    assign m_axis_tdata  = acc[count[2:0]];
    assign m_axis_tlast  = count[2:0] == 3'd7;

    wire take = s_axis_tvalid && s_axis_tready;
    integer n;

    always @(posedge aclk) begin
        if (!aresetn) begin
            state <= FETCH;
            count <= 0;
        end else case (state)
            FETCH: if (take) begin
                count <= 0;
                if (s_axis_tdata == OP_LOAD_B) state <= LOAD_B;
                if (s_axis_tdata == OP_ROW) state <= ROW;
                for (n = 0; n < 8; n = n + 1) acc[n] <= 0;
            end
            LOAD_B: if (take) begin
                b[count] <= s_axis_tdata;
                count <= count + 1;
                if (count == 63) state <= FETCH;
            end
            ROW: if (take) begin
                for (n = 0; n < 8; n = n + 1)
                    acc[n] <= acc[n] + s_axis_tdata * b[{count[2:0], n[2:0]}];
                count <= count + 1;
                if (count == 7) begin
                    count <= 0;
                    state <= SEND;
                end
            end
            SEND: if (m_axis_tready) begin
                count <= count + 1;
                if (m_axis_tlast) state <= FETCH;
            end
        endcase
    end

    wire unused = s_axis_tlast;
endmodule
`default_nettype wire
