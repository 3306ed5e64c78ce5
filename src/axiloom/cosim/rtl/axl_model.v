// An accelerator whose behaviour is the functional model of its specification: `--rtl model`.
//
// The ports are those of a generated accelerator. The C functions (native/axl_model.h) are called at the edges at
// which something happens, never while it waits. All outputs are registers, so nothing here depends on a stream's
// answer in the same cycle. AXL_WIDTH is the streams' width, as in axiloom_tb.v.

`timescale 1ps / 1ps

`ifdef VERILATOR
 `define AXL_MODEL_RESET(number) axl_model_reset(number)
 `define AXL_MODEL_WORD(number, word) axl_model_word(number, word)
 `define AXL_MODEL_STEP(flags, number, taken) flags = axl_model_step(number, taken)
 `define AXL_MODEL_OUT(word, number, lane) word = axl_model_out(number, lane)
`else
 `define AXL_MODEL_RESET(number) $axl_model_reset(number)
 `define AXL_MODEL_WORD(number, word) $axl_model_word(number, word)
 `define AXL_MODEL_STEP(flags, number, taken) $axl_model_step(flags, number, taken)
 `define AXL_MODEL_OUT(word, number, lane) $axl_model_out(word, number, lane)
`endif

`ifndef AXL_WIDTH
 `define AXL_WIDTH 32
`endif

module axiloom_model (
    input  wire        clk,
    input  wire        rst,
    input  wire [7:0]  number,  // which of the SoC's accelerators
    input  wire [`AXL_WIDTH-1:0] s_axis_tdata,
    input  wire        s_axis_tvalid,
    output reg         s_axis_tready,
    output reg  [`AXL_WIDTH-1:0] m_axis_tdata,
    output reg         m_axis_tvalid,
    output reg         m_axis_tlast,
    input  wire        m_axis_tready,
    output reg         debug_compute,
    output reg  [3:0]  debug_error,
    output reg         debug_busy
);

`ifdef VERILATOR
  import "DPI-C" function void axl_model_reset(input int number);
  import "DPI-C" function void axl_model_word(input int number, input int word);
  import "DPI-C" function int axl_model_step(input int number, input int taken);
  import "DPI-C" function int axl_model_out(input int number, input int lane);
`endif

  localparam integer LANES = `AXL_WIDTH / 32;
  // Bits of axl_model_step.
  localparam integer READY = 0, VALID = 1, LAST = 2, COMPUTE = 3, BUSY = 4, ERROR = 8;

  integer flags, word, lane;
  wire [31:0] which = {24'b0, number};
  wire given = s_axis_tvalid && s_axis_tready;
  wire taken = m_axis_tvalid && m_axis_tready;

  always @(posedge clk) begin
    if (rst) begin
      `AXL_MODEL_RESET(which);
      s_axis_tready <= 1'b0;
      m_axis_tvalid <= 1'b0;
      m_axis_tlast  <= 1'b0;
      debug_compute <= 1'b0;
      debug_error   <= 4'd0;
      debug_busy    <= 1'b1;  // the first step behind it says that words may come
    end
    else if (given || taken || debug_busy) begin
      if (given) begin
        for (lane = 0; lane < LANES; lane = lane + 1) begin
          word = s_axis_tdata[32*lane +: 32];
          `AXL_MODEL_WORD(which, word);
        end
      end
      `AXL_MODEL_STEP(flags, which, {31'b0, taken});
      if (flags[VALID]) begin
        for (lane = 0; lane < LANES; lane = lane + 1) begin
          `AXL_MODEL_OUT(word, which, lane);
          m_axis_tdata[32*lane +: 32] <= word;
        end
      end
      s_axis_tready <= flags[READY];
      m_axis_tvalid <= flags[VALID];
      m_axis_tlast  <= flags[LAST];
      debug_compute <= flags[COMPUTE];
      debug_busy    <= flags[BUSY];
      debug_error   <= flags[ERROR +: 4];
    end
  end

  initial begin
    s_axis_tready = 1'b0;
    m_axis_tvalid = 1'b0;
    m_axis_tlast  = 1'b0;
    m_axis_tdata  = 0;
    debug_compute = 1'b0;
    debug_error   = 4'd0;
    debug_busy    = 1'b1;
  end

endmodule
