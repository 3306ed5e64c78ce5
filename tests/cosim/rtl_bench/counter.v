// Counts while `enable` is up.
`include "width.vh"
module counter (
    input  wire              clk,
    input  wire              rst,
    input  wire              enable,
    output reg  [`WIDTH-1:0] value
);
  reg inner;
  always @(posedge clk) begin
    inner <= enable;
    if (rst) value <= 0;
    else if (enable) value <= value + 1'b1;
  end
endmodule
