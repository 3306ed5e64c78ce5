// Right: credits in place of READY inside. A word is taken only if the FIFO behind the pipeline has room for it, and the
// pipeline never stops. No TLAST, an active high reset. 64 words go through.
module credit_stream #(parameter FAULT = 0) (
  input wire clk, input wire rst,
  input wire [31:0] din_tdata, input wire din_tvalid, output wire din_tready,
  output wire [31:0] dout_tdata, output wire dout_tvalid, input wire dout_tready
);
  reg [31:0] words [0:7], p0, p1, p2;
  reg [2:0] moves;
  reg [3:0] put, get, credits;
  wire take = din_tvalid && din_tready, give = dout_tvalid && dout_tready;
  assign din_tready = credits != 0;
  assign dout_tvalid = put != get, dout_tdata = words[get[2:0]];
  always @(posedge clk) begin
    p0 <= din_tdata; p1 <= p0; p2 <= p1;
    if (moves[2]) words[put[2:0]] <= p2;
    if (rst) begin moves <= 0; put <= 0; get <= 0; credits <= 8; end
    else begin
      moves <= {moves[1:0], take};
      put <= put + moves[2];
      get <= get + give;
      credits <= credits - take + give;
    end
  end
endmodule
