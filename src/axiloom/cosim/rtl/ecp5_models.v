// What of an ECP5 no simulator knows, as far as our designs use it: for a simulation of the board's top module, and
// of its netlist beside Yosys' own models (share/yosys/ecp5/cells_sim.v).

// A clock as fast as the one that comes in: time in a simulation is counted in cycles.
module EHXPLLL #(
  parameter CLKI_DIV = 1, CLKFB_DIV = 1, CLKOP_DIV = 1, CLKOP_CPHASE = 0, CLKOP_FPHASE = 0,
  parameter CLKOP_ENABLE = "", FEEDBK_PATH = "", OUTDIVIDER_MUXA = "", OUTDIVIDER_MUXB = "", OUTDIVIDER_MUXC = "",
  parameter OUTDIVIDER_MUXD = "", PLLRST_ENA = "", INTFB_WAKE = "", STDBY_ENABLE = "", DPHASE_SOURCE = ""
) (
  input  wire CLKI, CLKFB, RST, STDBY, PHASESEL0, PHASESEL1, PHASEDIR, PHASESTEP, PHASELOADREG, PLLWAKESYNC, ENCLKOP,
  output wire CLKOP, LOCK
);
  assign CLKOP = CLKI;
  assign LOCK = 1'b1;
endmodule

// Two factors of 18 bits, without registers, as Yosys makes it of a product; or with those of boards/ecp5/registers.py.
module MULT18X18D #(
  parameter REG_INPUTA_CLK = "NONE", REG_INPUTA_CE = "CE0", REG_INPUTA_RST = "RST0",
  parameter REG_INPUTB_CLK = "NONE", REG_INPUTB_CE = "CE0", REG_INPUTB_RST = "RST0",
  parameter REG_OUTPUT_CLK = "NONE", REG_OUTPUT_CE = "CE0", REG_OUTPUT_RST = "RST0", GSR = "ENABLED"
) (
  input wire CLK0, CE0, RST0,
  input wire
    A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17, B0, B1, B2, B3, B4, B5, B6,
    B7, B8, B9, B10, B11, B12, B13, B14, B15, B16, B17, C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12,
    C13, C14, C15, C16, C17, SIGNEDA, SIGNEDB, SOURCEA, SOURCEB,
  output wire
    P0, P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11, P12, P13, P14, P15, P16, P17, P18, P19, P20, P21, P22,
    P23, P24, P25, P26, P27, P28, P29, P30, P31, P32, P33, P34, P35
);
  wire [17:0] a = {A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0};
  wire [17:0] b = {B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0};
  reg [17:0] a_held = 0, b_held = 0;
  reg [35:0] p_held = 0;
  wire [17:0] a_now = REG_INPUTA_CLK == "NONE" ? a : a_held;
  wire [17:0] b_now = REG_INPUTB_CLK == "NONE" ? b : b_held;
  wire signed [18:0] a_signed = {SIGNEDA & a_now[17], a_now};
  wire signed [18:0] b_signed = {SIGNEDB & b_now[17], b_now};
  wire signed [37:0] product = a_signed * b_signed;
  always @(posedge CLK0) begin
    a_held <= a;
    b_held <= b;
    p_held <= product[35:0];
  end
  assign {
    P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16, P15,
    P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0
  } = REG_OUTPUT_CLK == "NONE" ? product[35:0] : p_held;
endmodule

// Block RAM of 1024 words of 18 bits behind two ports (Lattice FPGA-TN-02204), each of 1, 2, 4, 9 or 18 bits; or one
// that writes 36 bits and one that reads, DIB and DOA being the further halves. A port of 18 bits and more has the
// enables of its bytes of nine bits in the lowest bits of its address. Output registers are those of boards/ecp5/outputs.py.
module DP16KD #(
  parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18, WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL",
  parameter REGMODE_A = "NOREG", REGMODE_B = "NOREG", RESETMODE = "SYNC", ASYNC_RESET_RELEASE = "SYNC",
  parameter CSDECODE_A = "0b000", CSDECODE_B = "0b000", CLKAMUX = "CLKA", CLKBMUX = "CLKB", GSR = "AUTO",
  parameter [319:0]
    INITVAL_00 = 0, INITVAL_01 = 0, INITVAL_02 = 0, INITVAL_03 = 0, INITVAL_04 = 0, INITVAL_05 = 0,
    INITVAL_06 = 0, INITVAL_07 = 0, INITVAL_08 = 0, INITVAL_09 = 0, INITVAL_0A = 0, INITVAL_0B = 0,
    INITVAL_0C = 0, INITVAL_0D = 0, INITVAL_0E = 0, INITVAL_0F = 0, INITVAL_10 = 0, INITVAL_11 = 0,
    INITVAL_12 = 0, INITVAL_13 = 0, INITVAL_14 = 0, INITVAL_15 = 0, INITVAL_16 = 0, INITVAL_17 = 0,
    INITVAL_18 = 0, INITVAL_19 = 0, INITVAL_1A = 0, INITVAL_1B = 0, INITVAL_1C = 0, INITVAL_1D = 0,
    INITVAL_1E = 0, INITVAL_1F = 0, INITVAL_20 = 0, INITVAL_21 = 0, INITVAL_22 = 0, INITVAL_23 = 0,
    INITVAL_24 = 0, INITVAL_25 = 0, INITVAL_26 = 0, INITVAL_27 = 0, INITVAL_28 = 0, INITVAL_29 = 0,
    INITVAL_2A = 0, INITVAL_2B = 0, INITVAL_2C = 0, INITVAL_2D = 0, INITVAL_2E = 0, INITVAL_2F = 0,
    INITVAL_30 = 0, INITVAL_31 = 0, INITVAL_32 = 0, INITVAL_33 = 0, INITVAL_34 = 0, INITVAL_35 = 0,
    INITVAL_36 = 0, INITVAL_37 = 0, INITVAL_38 = 0, INITVAL_39 = 0, INITVAL_3A = 0, INITVAL_3B = 0,
    INITVAL_3C = 0, INITVAL_3D = 0, INITVAL_3E = 0, INITVAL_3F = 0
) (
  input wire
    DIA0, DIA1, DIA2, DIA3, DIA4, DIA5, DIA6, DIA7, DIA8, DIA9, DIA10, DIA11, DIA12, DIA13, DIA14, DIA15,
    DIA16, DIA17, ADA0, ADA1, ADA2, ADA3, ADA4, ADA5, ADA6, ADA7, ADA8, ADA9, ADA10, ADA11, ADA12, ADA13, DIB0,
    DIB1, DIB2, DIB3, DIB4, DIB5, DIB6, DIB7, DIB8, DIB9, DIB10, DIB11, DIB12, DIB13, DIB14, DIB15, DIB16,
    DIB17, ADB0, ADB1, ADB2, ADB3, ADB4, ADB5, ADB6, ADB7, ADB8, ADB9, ADB10, ADB11, ADB12, ADB13, CLKA, CEA,
    OCEA, WEA, RSTA, CLKB, CEB, OCEB, WEB, RSTB, CSA0, CSA1, CSA2, CSB0, CSB1, CSB2,
  output wire
    DOA0, DOA1, DOA2, DOA3, DOA4, DOA5, DOA6, DOA7, DOA8, DOA9, DOA10, DOA11, DOA12, DOA13, DOA14, DOA15,
    DOA16, DOA17, DOB0, DOB1, DOB2, DOB3, DOB4, DOB5, DOB6, DOB7, DOB8, DOB9, DOB10, DOB11, DOB12, DOB13,
    DOB14, DOB15, DOB16, DOB17
);
  wire [17:0] dia = {
    DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2,
    DIA1, DIA0};
  wire [17:0] dib = {
    DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2,
    DIB1, DIB0};
  wire [13:0] ada = {
    ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
  wire [13:0] adb = {
    ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};
  reg [17:0] doa = 0, dob = 0, doa_held = 0, dob_held = 0;
  assign {
    DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2,
    DOA1, DOA0
  } = REGMODE_A == "OUTREG" ? doa_held : doa;
  assign {
    DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2,
    DOB1, DOB0
  } = REGMODE_B == "OUTREG" ? dob_held : dob;
  always @(posedge CLKA) if (OCEA) doa_held <= doa;
  always @(posedge CLKB) if (OCEB) dob_held <= dob;

  reg [17:0] memory [0:1023];
  wire [64 * 320 - 1:0] initial_values = {
    INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39, INITVAL_38, INITVAL_37,
    INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32, INITVAL_31, INITVAL_30, INITVAL_2F, INITVAL_2E,
    INITVAL_2D, INITVAL_2C, INITVAL_2B, INITVAL_2A, INITVAL_29, INITVAL_28, INITVAL_27, INITVAL_26, INITVAL_25,
    INITVAL_24, INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20, INITVAL_1F, INITVAL_1E, INITVAL_1D, INITVAL_1C,
    INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18, INITVAL_17, INITVAL_16, INITVAL_15, INITVAL_14, INITVAL_13,
    INITVAL_12, INITVAL_11, INITVAL_10, INITVAL_0F, INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A,
    INITVAL_09, INITVAL_08, INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01,
    INITVAL_00};
  integer i;
  initial for (i = 0; i < 1024; i = i + 1) memory[i] = initial_values[i * 20 +: 18];

  // Where a narrow port's bits lie in their word: halves of nine bits, of which the ninth is for 9 and more.
  function [4:0] place(input integer width, input [13:0] address);
    case (width)
      1: place = 9 * address[3] + address[2:0];
      2: place = 9 * address[3] + 2 * address[2:1];
      4: place = 9 * address[3] + 4 * address[2];
      9: place = 9 * address[3];
      default: place = 0;
    endcase
  endfunction

  function [17:0] mask(input integer width, input [13:0] address);
    if (width >= 18) mask = {{9{address[1]}}, {9{address[0]}}};
    else mask = ((18'd1 << width) - 18'd1) << place(width, address);
  endfunction

  function [17:0] written(input [17:0] word, input [17:0] data, input integer width, input [13:0] address);
    written = (word & ~mask(width, address)) | ((data << place(width, address)) & mask(width, address));
  endfunction

  localparam WIDE = DATA_WIDTH_A == 36;
  wire [9:0] word_a = WIDE ? {ada[13:5], 1'b0} : ada[13:4];
  wire [9:0] word_b = DATA_WIDTH_B == 36 ? {adb[13:5], 1'b0} : adb[13:4];

  always @(posedge CLKA) begin
    if (CEA && WEA) begin
      memory[word_a] <= written(memory[word_a], dia, DATA_WIDTH_A, ada);
      if (WIDE) memory[word_a | 10'd1] <= written(memory[word_a | 10'd1], dib, 18, ada >> 2);
    end
    if (!WIDE) begin
      if (RSTA) doa <= 0;
      else if (CEA && (!WEA || WRITEMODE_A == "READBEFOREWRITE"))
        doa <= memory[word_a] >> place(DATA_WIDTH_A, ada);
      else if (CEA && WRITEMODE_A == "WRITETHROUGH")
        doa <= written(memory[word_a], dia, DATA_WIDTH_A, ada) >> place(DATA_WIDTH_A, ada);
    end
  end

  always @(posedge CLKB) begin
    if (CEB && WEB && !WIDE) memory[word_b] <= written(memory[word_b], dib, DATA_WIDTH_B, adb);
    if (RSTB) begin
      dob <= 0;
      if (WIDE) doa <= 0;
    end
    else if (CEB && DATA_WIDTH_B == 36) begin
      doa <= memory[word_b];
      dob <= memory[word_b | 10'd1];
    end
    else if (CEB && (!WEB || WRITEMODE_B == "READBEFOREWRITE"))
      dob <= memory[word_b] >> place(DATA_WIDTH_B, adb);
    else if (CEB && WRITEMODE_B == "WRITETHROUGH")
      dob <= written(memory[word_b], dib, DATA_WIDTH_B, adb) >> place(DATA_WIDTH_B, adb);
  end
endmodule
