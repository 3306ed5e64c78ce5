// The array's multiplier of 32 bits (Multiplier in mac_array.py) with a cross product in LUTs and carry chains, cycle
// by cycle the same.
//
// Its two registers divide the sum of rows in two: in one cycle eight rows are added up, in the next what is left. As
// an ECP5's hard multipliers lie in few rows across the whole die, what is in LUTs has shorter ways, too.

// The low WIDTH bits of a * b[0] + 2 a * b[1]: a carry chain that needs no other LUT. A CCU2C's LUT of four inputs is
// the propagate, INIT[3:0] the generate from A and B.
module axiloom_two_rows #(parameter WIDTH = 8) (
  input  wire [WIDTH-1:0] a,
  input  wire [1:0] b,
  output wire [WIDTH-1:0] y
);
  localparam SLICES = (WIDTH + 1) / 2;
  wire [2*SLICES-1:0] one = {1'b0, a};
  wire [2*SLICES-1:0] two = {a, 1'b0};
  wire [2*SLICES-1:0] sum;
  wire [SLICES:0] carry;
  assign carry[0] = 1'b0;
  assign y = sum[WIDTH-1:0];
  genvar i;
  generate
    for (i = 0; i < SLICES; i = i + 1) begin : slice
      CCU2C #(.INIT0(16'h7888), .INIT1(16'h7888), .INJECT1_0("NO"), .INJECT1_1("NO")) add (
        .CIN(carry[i]), .COUT(carry[i+1]),
        .A0(two[2*i]), .B0(b[1]), .C0(one[2*i]), .D0(b[0]), .S0(sum[2*i]),
        .A1(two[2*i+1]), .B1(b[1]), .C1(one[2*i+1]), .D1(b[0]), .S1(sum[2*i+1])
      );
    end
  endgenerate
endmodule

// The low 15 bits of a * b: seven columns of bits above the eighth row are a register of their own.
module axiloom_cross_product (
  input  wire aclk,
  input  wire [14:0] a,
  input  wire [14:0] b,
  output reg  [14:0] low,
  output reg  [6:0] high  // 256 times as much
);
  wire [14:0] rows_0;
  wire [12:0] rows_2;
  wire [10:0] rows_4;
  wire [8:0] rows_6;
  wire [6:0] rows_8;
  wire [4:0] rows_10;
  wire [2:0] rows_12;
  axiloom_two_rows #(.WIDTH(15)) at_0 (.a(a), .b(b[1:0]), .y(rows_0));
  axiloom_two_rows #(.WIDTH(13)) at_2 (.a(a[12:0]), .b(b[3:2]), .y(rows_2));
  axiloom_two_rows #(.WIDTH(11)) at_4 (.a(a[10:0]), .b(b[5:4]), .y(rows_4));
  axiloom_two_rows #(.WIDTH(9)) at_6 (.a(a[8:0]), .b(b[7:6]), .y(rows_6));
  axiloom_two_rows #(.WIDTH(7)) at_8 (.a(a[6:0]), .b(b[9:8]), .y(rows_8));
  axiloom_two_rows #(.WIDTH(5)) at_10 (.a(a[4:0]), .b(b[11:10]), .y(rows_10));
  axiloom_two_rows #(.WIDTH(3)) at_12 (.a(a[2:0]), .b(b[13:12]), .y(rows_12));
  wire [10:0] sum_4 = rows_4 + {rows_6, 2'b0};
  wire [2:0] sum_12 = rows_12 + {a[0] & b[14], 2'b0};
  always @(posedge aclk) begin
    low <= (rows_0 + {rows_2, 2'b0}) + {sum_4, 4'b0};
    high <= (rows_8 + {rows_10, 2'b0}) + {sum_12, 4'b0};
  end
endmodule

// mod 2^32, of halves of 17 and 15 bits: what is above does not count. One of the two cross products is in a hard
// multiplier like the low one: with both in carry chains the router has too many ways to find, with none a part
// has too few multipliers.
module axiloom_multiplier_32 (
  input  wire aclk,
  input  wire [31:0] a,
  input  wire [31:0] b,
  output reg  [31:0] product
);
  wire [14:0] chains_low;
  wire [6:0] chains_high;
  axiloom_cross_product chains (.aclk(aclk), .a(b[31:17]), .b(a[14:0]), .low(chains_low), .high(chains_high));
  reg [31:0] low;
  reg [14:0] cross;
  wire [14:0] crosses = chains_low + {chains_high, 8'b0};
  always @(posedge aclk) begin
    low <= {15'b0, a[16:0]} * {15'b0, b[16:0]};
    cross <= a[31:17] * b[14:0];
    product <= {(low[31:17] + cross) + crosses, low[16:0]};
  end
endmodule

// The array's multiplier of two pairs of int8 (PairMultiplier in pair.py), cycle by cycle the same, out of one of 18 x
// 18 bits: the factors are 9 bits apart, so that of both products' sum only the lowest 9 bits are the low product's
// own. What lies above is known once the lowest 7 bits of the high product are, and those are in carry chains.
module axiloom_pair_8 (
  input  wire aclk,
  input  wire [16:0] pair,
  input  wire [7:0] shared,
  output reg  [31:0] both
);
  wire [6:0] high = pair[14:8] + {6'b0, pair[7]};
  wire [6:0] rows_0;
  wire [4:0] rows_2;
  wire [2:0] rows_4;
  axiloom_two_rows #(.WIDTH(7)) at_0 (.a(high), .b(shared[1:0]), .y(rows_0));
  axiloom_two_rows #(.WIDTH(5)) at_2 (.a(high[4:0]), .b(shared[3:2]), .y(rows_2));
  axiloom_two_rows #(.WIDTH(3)) at_4 (.a(high[2:0]), .b(shared[5:4]), .y(rows_4));
  wire [2:0] sum_4 = rows_4 + {high[0] & shared[6], 2'b0};
  reg signed [25:0] sum;
  reg [6:0] known;
  wire signed [17:0] factor = {pair[16:8], pair[7], pair[7:0]};
  wire signed [6:0] low = sum[15:9] - known;
  wire [16:0] rest = $signed(sum[25:9]) - low;
  always @(posedge aclk) begin
    sum <= factor * $signed(shared);
    known <= (rows_0 + {rows_2, 2'b0}) + {sum_4, 4'b0};
    both <= {rest[15:0], ~low[6], low[5:0], sum[8:0]};
  end
endmodule
