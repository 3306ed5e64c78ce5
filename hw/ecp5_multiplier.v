// Multipliers of the array (Multiplier in mac_array.py) in LUTs and carry chains, cycle by cycle the same.
//
// An ECP5's hard multipliers lie in few rows across the whole die, and each product has to go there and back within
// a cycle. These lie beside their accumulators, and their two registers divide the sum of rows in two.

// a * b[0] + 2 a * b[1], or with LESS a * b[0] - 2 a * b[1]: a carry chain that needs no other LUT. A CCU2C's LUT of
// four inputs is the propagate, INIT[3:0] the generate from A and B.
module axiloom_two_rows #(parameter A_WIDTH = 8, SIGNED = 1, LESS = 0, Y_WIDTH = A_WIDTH + 2) (
  input  wire [A_WIDTH-1:0] a,
  input  wire [1:0] b,
  output wire [Y_WIDTH-1:0] y
);
  localparam SLICES = (Y_WIDTH + 1) / 2;
  wire [2*SLICES:0] one = {{2 * SLICES + 1{SIGNED ? a[A_WIDTH-1] : 1'b0}}, a};
  wire [2*SLICES:0] two = {one[2*SLICES-1:0], 1'b0};
  wire [2*SLICES-1:0] sum;
  wire [SLICES:0] carry;
  assign carry[0] = LESS ? 1'b1 : 1'b0;
  assign y = sum[Y_WIDTH-1:0];
  genvar i;
  generate
    for (i = 0; i < SLICES; i = i + 1) begin : slice
      // What is taken away comes first, as the generate sees A and B alone.
      CCU2C #(
        .INIT0(LESS ? 16'h8777 : 16'h7888), .INIT1(LESS ? 16'h8777 : 16'h7888), .INJECT1_0("NO"), .INJECT1_1("NO")
      ) add (
        .CIN(carry[i]), .COUT(carry[i+1]),
        .A0(two[2*i]), .B0(b[1]), .C0(one[2*i]), .D0(b[0]), .S0(sum[2*i]),
        .A1(two[2*i+1]), .B1(b[1]), .C1(one[2*i+1]), .D1(b[0]), .S1(sum[2*i+1])
      );
    end
  endgenerate
endmodule

module axiloom_multiplier_8 (
  input  wire aclk,
  input  wire [7:0] a,
  input  wire [7:0] b,
  output wire [31:0] product
);
  wire signed [9:0] rows_0, rows_2, rows_4, rows_6;
  axiloom_two_rows at_0 (.a(a), .b(b[1:0]), .y(rows_0));
  axiloom_two_rows at_2 (.a(a), .b(b[3:2]), .y(rows_2));
  axiloom_two_rows at_4 (.a(a), .b(b[5:4]), .y(rows_4));
  axiloom_two_rows #(.LESS(1)) at_6 (.a(a), .b(b[7:6]), .y(rows_6));
  reg signed [11:0] low, high;
  reg signed [15:0] full;
  always @(posedge aclk) begin
    low <= rows_0 + (rows_2 <<< 2);
    high <= rows_4 + (rows_6 <<< 2);
    full <= low + (high <<< 4);
  end
  assign product = {{16{full[15]}}, full};
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
  axiloom_two_rows #(.A_WIDTH(15), .SIGNED(0), .Y_WIDTH(15)) at_0 (.a(a), .b(b[1:0]), .y(rows_0));
  axiloom_two_rows #(.A_WIDTH(13), .SIGNED(0), .Y_WIDTH(13)) at_2 (.a(a[12:0]), .b(b[3:2]), .y(rows_2));
  axiloom_two_rows #(.A_WIDTH(11), .SIGNED(0), .Y_WIDTH(11)) at_4 (.a(a[10:0]), .b(b[5:4]), .y(rows_4));
  axiloom_two_rows #(.A_WIDTH(9), .SIGNED(0), .Y_WIDTH(9)) at_6 (.a(a[8:0]), .b(b[7:6]), .y(rows_6));
  axiloom_two_rows #(.A_WIDTH(7), .SIGNED(0), .Y_WIDTH(7)) at_8 (.a(a[6:0]), .b(b[9:8]), .y(rows_8));
  axiloom_two_rows #(.A_WIDTH(5), .SIGNED(0), .Y_WIDTH(5)) at_10 (.a(a[4:0]), .b(b[11:10]), .y(rows_10));
  axiloom_two_rows #(.A_WIDTH(3), .SIGNED(0), .Y_WIDTH(3)) at_12 (.a(a[2:0]), .b(b[13:12]), .y(rows_12));
  wire [10:0] sum_4 = rows_4 + {rows_6, 2'b0};
  wire [2:0] sum_12 = rows_12 + {a[0] & b[14], 2'b0};
  always @(posedge aclk) begin
    low <= (rows_0 + {rows_2, 2'b0}) + {sum_4, 4'b0};
    high <= (rows_8 + {rows_10, 2'b0}) + {sum_12, 4'b0};
  end
endmodule

// mod 2^32, of halves of 17 and 15 bits: what is above does not count.
module axiloom_multiplier_32 (
  input  wire aclk,
  input  wire [31:0] a,
  input  wire [31:0] b,
  output reg  [31:0] product
);
  wire [14:0] low_of_a, low_of_b;
  wire [6:0] high_of_a, high_of_b;
  axiloom_cross_product of_a (.aclk(aclk), .a(a[31:17]), .b(b[14:0]), .low(low_of_a), .high(high_of_a));
  axiloom_cross_product of_b (.aclk(aclk), .a(b[31:17]), .b(a[14:0]), .low(low_of_b), .high(high_of_b));
  reg [31:0] low;  // a hard multiplier
  wire [6:0] highs = high_of_a + high_of_b;
  wire [14:0] lows = low_of_a + low_of_b;
  always @(posedge aclk) begin
    low <= {15'b0, a[16:0]} * {15'b0, b[16:0]};
    product <= {(low[31:17] + {highs, 8'b0}) + lows, low[16:0]};
  end
endmodule
