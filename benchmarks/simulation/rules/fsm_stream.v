// By hand: a state machine takes 64 words and then sends them. FAULT breaks it (bus_rules.py); 0 is right.
module fsm_stream #(parameter FAULT = 0) (
  input  wire clk, input wire rstn,
  input  wire [31:0] s_tdata, input wire s_tvalid, output wire s_tready, input wire s_tlast,
  output wire [31:0] m_tdata, output wire [3:0] m_tkeep, output wire m_tvalid, input wire m_tready, output wire m_tlast
);
  localparam [6:0] TAKES = FAULT == 12 ? 65 : 64, SENDS = FAULT == 10 ? 72 : FAULT == 11 ? 60 : 64;
  reg [31:0] kept [0:127];
  reg [6:0] i, o;
  reg sending, waited, lost;

  assign s_tready = !sending;
  assign m_tvalid = (sending && !(FAULT == 1 && waited) && !(FAULT == 4 && !m_tready)) || (FAULT == 3 && !rstn);
  assign m_tdata = kept[o] + (FAULT == 2 && waited);
  assign m_tlast = (o == SENDS - 1 && FAULT != 9 && !(FAULT == 5 && waited)) || (FAULT == 15 && o == 15);
  assign m_tkeep = FAULT == 6 ? 4'b0000 : FAULT == 7 && o == 5 ? 4'b1011 : FAULT == 8 && o == 10 ? 4'b0011
                 : FAULT == 13 && m_tlast ? 4'b0111 : 4'b1111;

  always @(posedge clk)
    if (!rstn) begin
      i <= 0; o <= 0; sending <= 0; waited <= 0; lost <= 0;
    end else begin
      waited <= m_tvalid && !m_tready;
      if (s_tvalid && s_tready) begin
        lost <= 1;
        if (!(FAULT == 14 && !lost)) begin
          kept[i] <= s_tdata;
          if (i == TAKES - 1) begin i <= 0; sending <= 1; end else i <= i + 1;
        end
      end
      if (m_tvalid && m_tready) begin
        if (o == SENDS - 1) begin o <= 0; sending <= 0; end else o <= o + 1;
      end
    end
endmodule
