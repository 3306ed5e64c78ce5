// A stream's register slice with a register in front of TREADY.
module skid (
    input  wire        clk, rst,
    input  wire [7:0]  s_tdata, input wire s_tvalid, output reg  s_tready,
    output reg  [7:0]  m_tdata, output reg m_tvalid, input  wire m_tready
);
    reg [7:0] kept;
    wire full = !s_tready;
    always @(posedge clk)
        if (rst) begin
            s_tready <= 1;
            m_tvalid <= 0;
        end else begin
            if (!m_tvalid || m_tready) begin
                m_tvalid <= full || s_tvalid;
                m_tdata  <= full ? kept : s_tdata;
                s_tready <= 1;
            end else if (s_tvalid && s_tready) begin
                kept     <= s_tdata;
                s_tready <= 0;
            end
        end
endmodule
