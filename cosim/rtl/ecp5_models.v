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
