// C = A + B, element by element, on int32: a small device by hand for the kernel linalg.add.
//
// Instruction set (32-bit words, AXI-Stream). n is 1 to 256:
//   1, n               size of the tiles that follow
//   2, then n words    load A
//   3, then n words    load B
//   4                  C := A + B
//   5                  send C: n words, TLAST on the last
//
// Each buffer has one element a word, so nothing needs packing.
`default_nettype none
module add (
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
    localparam [31:0] OP_DIMS = 1, OP_LOAD_A = 2, OP_LOAD_B = 3, OP_ADD = 4, OP_STORE = 5;
    localparam [2:0] FETCH = 0, DIMS = 1, LOAD_A = 2, LOAD_B = 3, ADD = 4, SEND = 5;

    reg [2:0]  state;
    reg [7:0]  at;          // the element that is loaded, added or sent
    reg [7:0]  last;        // the last one, n - 1: 256 elements need no ninth bit
    reg [31:0] a [0:255];
    reg [31:0] b [0:255];
    reg [31:0] c [0:255];

    // A new instruction waits until C has gone: there is one buffer for it.
    assign s_axis_tready = state != ADD && state != SEND;
    assign m_axis_tvalid = state == SEND;
    assign m_axis_tdata  = c[at];
    assign m_axis_tlast  = at == last;  // the DMA ends its transfer here

    wire take = s_axis_tvalid && s_axis_tready;

    always @(posedge aclk) begin
        if (!aresetn) begin
            state <= FETCH;
            at <= 0;
            last <= 8'd255;
        end else case (state)
            FETCH: if (take) begin
                at <= 0;
                case (s_axis_tdata)
                    OP_DIMS:   state <= DIMS;
                    OP_LOAD_A: state <= LOAD_A;
                    OP_LOAD_B: state <= LOAD_B;
                    OP_ADD:    state <= ADD;
                    OP_STORE:  state <= SEND;
                    default:   state <= FETCH;
                endcase
            end
            DIMS: if (take) begin
                last <= s_axis_tdata[7:0] - 8'd1;
                state <= FETCH;
            end
            LOAD_A: if (take) begin
                a[at] <= s_axis_tdata;
                at <= at + 8'd1;
                if (at == last) state <= FETCH;
            end
            LOAD_B: if (take) begin
                b[at] <= s_axis_tdata;
                at <= at + 8'd1;
                if (at == last) state <= FETCH;
            end
            ADD: begin
                c[at] <= a[at] + b[at];
                at <= at + 8'd1;
                if (at == last) state <= FETCH;
            end
            SEND: if (m_axis_tready) begin
                at <= at + 8'd1;
                if (at == last) state <= FETCH;
            end
            default: state <= FETCH;
        endcase
    end

    // Sizes say where a tile ends; TLAST towards the device says nothing.
    wire unused = s_axis_tlast;
endmodule
`default_nettype wire
