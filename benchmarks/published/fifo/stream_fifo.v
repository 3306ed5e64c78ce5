// A packet goes in, waits, and comes back when it is asked for: what a new DMA is tried with.
`timescale 1 ns / 1 ps

module stream_fifo #(
    parameter WIDTH = 32,
    parameter LOG_DEPTH = 14
) (
    input  wire             aclk,
    input  wire             aresetn,
    input  wire [WIDTH-1:0] s_axis_tdata,
    input  wire             s_axis_tlast,
    input  wire             s_axis_tvalid,
    output wire             s_axis_tready,
    output reg  [WIDTH-1:0] m_axis_tdata,
    output reg              m_axis_tlast,
    output reg              m_axis_tvalid,
    input  wire             m_axis_tready
);
    reg [WIDTH:0] memory [0:(1 << LOG_DEPTH) - 1];
    reg [LOG_DEPTH:0] written;  // one bit more than an address: full and empty differ in it
    reg [LOG_DEPTH:0] taken;

    wire full  = written == {~taken[LOG_DEPTH], taken[LOG_DEPTH-1:0]};
    wire empty = written == taken;
    wire moves = !empty && (!m_axis_tvalid || m_axis_tready);

    assign s_axis_tready = aresetn && !full;

    always @(posedge aclk) begin
        if (s_axis_tvalid && s_axis_tready)
            memory[written[LOG_DEPTH-1:0]] <= {s_axis_tlast, s_axis_tdata};
        if (moves)
            {m_axis_tlast, m_axis_tdata} <= memory[taken[LOG_DEPTH-1:0]];
    end

    always @(posedge aclk) begin
        if (!aresetn) begin
            written <= 0;
            taken <= 0;
            m_axis_tvalid <= 0;
        end else begin
            if (s_axis_tvalid && s_axis_tready)
                written <= written + 1;
            if (moves) begin
                taken <= taken + 1;
                m_axis_tvalid <= 1;
            end else if (m_axis_tready) begin
                m_axis_tvalid <= 0;
            end
        end
    end
endmodule
