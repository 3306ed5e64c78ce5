// A product of unsigned factors in LUTs: two rows of partial products a carry chain, then a tree of adders.
//
// A CCU2C adds (A & B) + (C & D) without further LUTs: its LUT of four inputs is the propagate, INIT[3:0] = A & B the
// generate. So 15 x 15 -> 15 bits takes 62 of them, where Yosys' `booth` takes 490 LUTs behind wide multiplexers,
// which the router cannot connect.
(* techmap_celltype = "$mul" *)
module axiloom_product (A, B, Y);
  parameter A_SIGNED = 0, B_SIGNED = 0, A_WIDTH = 1, B_WIDTH = 1, Y_WIDTH = 1;
  input [A_WIDTH-1:0] A;
  input [B_WIDTH-1:0] B;
  output [Y_WIDTH-1:0] Y;

  wire _TECHMAP_FAIL_ = A_SIGNED || B_SIGNED;  // `booth` knows signs

  localparam ROWS = B_WIDTH < Y_WIDTH ? B_WIDTH : Y_WIDTH;
  localparam LEAVES = 1 << $clog2((ROWS + 1) / 2);

  wire [Y_WIDTH:0] a = {{Y_WIDTH{1'b0}}, A} << 1;  // a[i + 1] is bit i of A: bit -1 is 0, too
  wire [Y_WIDTH:0] b = {{Y_WIDTH{1'b0}}, B};
  wire [2*LEAVES*Y_WIDTH-1:0] sums;  // of the tree's nodes: node n is the sum of 2 n and 2 n + 1, node 1 is all
  assign sums[Y_WIDTH-1:0] = 0;
  assign Y = sums[Y_WIDTH+:Y_WIDTH];

  genvar leaf, bit_, level, node;
  generate
    for (leaf = 0; leaf < LEAVES; leaf = leaf + 1) begin : rows
      localparam FIRST = 2 * leaf;  // row and, as it is shifted, its lowest bit
      wire [Y_WIDTH:0] total;
      if (FIRST >= ROWS) begin : none
        assign total = 0;
      end else if (FIRST + 1 >= ROWS) begin : one
        assign total = b[FIRST] ? (a >> 1) << FIRST : 0;
      end else begin : two
        wire [Y_WIDTH+2:0] carry;
        assign carry[FIRST] = 1'b0;
        if (FIRST > 0) assign total[FIRST-1:0] = 0;
        for (bit_ = FIRST; bit_ < Y_WIDTH; bit_ = bit_ + 2) begin : slice
          localparam I = bit_ - FIRST;
          // At the first bit there is no second row: C and D high do no harm to (A & B), and need no wire.
          CCU2C #(
            .INIT0(I == 0 ? 16'h8888 : 16'h7888), .INIT1(16'h7888), .INJECT1_0("NO"), .INJECT1_1("NO")
          ) add (
            .CIN(carry[bit_]), .COUT(carry[bit_+2]),
            .A0(a[I+1]), .B0(b[FIRST]), .C0(I == 0 ? 1'b1 : a[I]), .D0(I == 0 ? 1'b1 : b[FIRST+1]), .S0(total[bit_]),
            .A1(bit_ + 1 < Y_WIDTH ? a[I+2] : 1'b0), .B1(b[FIRST]), .C1(a[I+1]), .D1(b[FIRST+1]), .S1(total[bit_+1])
          );
        end
      end
      assign sums[(LEAVES+leaf)*Y_WIDTH+:Y_WIDTH] = total[Y_WIDTH-1:0];
    end
    for (level = 1; level < LEAVES; level = level * 2) begin : levels
      for (node = level; node < 2 * level; node = node + 1) begin : nodes
        // The right one begins at the rows of its first leaf; what lies below is the left one's alone.
        localparam BEGIN = 2 * ((2 * node + 1) * (LEAVES / level / 2) - LEAVES);
        wire [Y_WIDTH-1:0] left = sums[2*node*Y_WIDTH+:Y_WIDTH];
        wire [Y_WIDTH-1:0] right = sums[(2*node+1)*Y_WIDTH+:Y_WIDTH];
        if (BEGIN >= ROWS) begin : alone
          assign sums[node*Y_WIDTH+:Y_WIDTH] = left;
        end else begin : both
          assign sums[node*Y_WIDTH+:BEGIN] = left[BEGIN-1:0];
          assign sums[node*Y_WIDTH+BEGIN+:Y_WIDTH-BEGIN] = left[Y_WIDTH-1:BEGIN] + right[Y_WIDTH-1:BEGIN];
        end
      end
    end
  endgenerate
endmodule
