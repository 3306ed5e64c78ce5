// Right: SystemVerilog with an asynchronous reset and registered outputs; a beat of 128 bits every third cycle. 64 words
// go through, 4 a beat.
module wide_stream #(parameter int FAULT = 0) (
  input  logic clk, input logic rst_n,
  input  logic [127:0] in_tdata, input logic in_tvalid, output logic in_tready,
  output logic [127:0] out_tdata, output logic [15:0] out_tkeep, output logic out_tvalid, input logic out_tready,
  output logic out_tlast
);
  typedef enum logic [1:0] {TAKE, REST, GIVE} step_t;
  step_t step;
  logic [3:0] beat;
  assign in_tready = step == TAKE;
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      step <= TAKE; beat <= 0; out_tvalid <= 0; out_tlast <= 0; out_tdata <= 0; out_tkeep <= 0;
    end else case (step)
      TAKE: if (in_tvalid) begin out_tdata <= in_tdata; step <= REST; end
      REST: begin out_tvalid <= 1; out_tkeep <= '1; out_tlast <= beat == 15; step <= GIVE; end
      default: if (out_tready) begin
        out_tvalid <= 0; out_tkeep <= 0; out_tlast <= 0; beat <= beat + 4'd1; step <= TAKE;
      end
    endcase
endmodule
