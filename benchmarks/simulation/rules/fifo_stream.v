// In the style of a library: a skid buffer in front, a FIFO behind it, a register slice to the port. The words of 64
// go through. FAULT breaks it; 0 is right.
module fifo_skid #(parameter W = 32) (
  input wire clk, input wire rst,
  input wire [W-1:0] i_data, input wire i_valid, output wire i_ready,
  output wire [W-1:0] o_data, output wire o_valid, input wire o_ready
);
  reg r_valid;
  reg [W-1:0] r_data;
  assign i_ready = !r_valid, o_valid = i_valid || r_valid, o_data = r_valid ? r_data : i_data;
  always @(posedge clk)
    if (rst) r_valid <= 0;
    else begin
      if (i_valid && i_ready && !o_ready) r_valid <= 1; else if (o_ready) r_valid <= 0;
      if (i_ready) r_data <= i_data;
    end
endmodule

module fifo_queue #(parameter W = 32, LOG2 = 4, FAULT = 0) (
  input wire clk, input wire rst,
  input wire [W-1:0] i_data, input wire i_valid, output wire i_ready,
  output wire [W-1:0] o_data, output wire o_valid, input wire o_ready
);
  reg [W-1:0] words [0:(1<<LOG2)-1];
  reg [LOG2:0] put, get;
  wire [LOG2:0] level = put - get;
  assign o_valid = level != 0, i_ready = !level[LOG2], o_data = words[get[LOG2-1:0]];
  always @(posedge clk)
    if (rst) begin put <= 0; get <= 0; end
    else begin
      if (i_valid && i_ready) begin words[put[LOG2-1:0]] <= i_data ^ (FAULT == 51 && level[LOG2-1]); put <= put + 1; end
      if (o_valid && o_ready) get <= get + 1;
    end
endmodule

module fifo_stream #(parameter FAULT = 0) (
  input  wire aclk, input wire aresetn,
  input  wire [31:0] s_axis_tdata, input wire s_axis_tvalid, output wire s_axis_tready, input wire s_axis_tlast,
  output wire [31:0] m_axis_tdata, output wire [3:0] m_axis_tkeep, output wire m_axis_tvalid, input wire m_axis_tready,
  output wire m_axis_tlast
);
  wire rst = !aresetn;
  wire [31:0] a_data, b_data;
  wire a_valid, a_ready, b_valid, b_ready;
  reg [31:0] data;
  reg valid, last;
  reg [3:0] keep;
  reg [6:0] count, late;
  reg lost;

  fifo_skid skid (.clk(aclk), .rst(rst), .i_data(s_axis_tdata), .i_valid(s_axis_tvalid), .i_ready(s_axis_tready),
                  .o_data(a_data), .o_valid(a_valid), .o_ready(a_ready));
  wire drop = FAULT == 14 && !lost;
  fifo_queue #(.FAULT(FAULT)) queue (.clk(aclk), .rst(rst), .i_data(a_data), .i_valid(a_valid && !drop), .i_ready(a_ready),
                    .o_data(b_data), .o_valid(b_valid), .o_ready(b_ready));
  // FAULT 1: a new word is loaded only when one comes, else VALID falls, taken or not. FAULT 2: it is loaded over one
  // that waits. FAULT 4: the slice waits for READY.
  wire load = FAULT == 1 || FAULT == 2 ? !valid || m_axis_tready || late[0] : FAULT == 4 ? !valid || m_axis_tready
            : !valid || m_axis_tready;
  assign b_ready = load;
  assign m_axis_tdata = data, m_axis_tlast = last, m_axis_tkeep = keep;
  assign m_axis_tvalid = FAULT == 4 ? valid && m_axis_tready : FAULT == 3 ? valid || rst : valid;
  wire ends = count == 63;
  always @(posedge aclk)
    if (rst) begin valid <= 0; last <= 0; count <= 0; keep <= 15; late <= 0; lost <= 0; end
    else begin
      late <= late + 1;
      if (a_valid && a_ready) lost <= 1;
      if (load) begin
        valid <= FAULT == 2 ? valid && !m_axis_tready || b_valid : b_valid;
        if (b_valid) begin
          data <= b_data;
          last <= (ends && FAULT != 9) || (FAULT == 15 && count == 31);
          keep <= FAULT == 6 ? 4'b0000 : FAULT == 7 && count == 3 ? 4'b1101 : FAULT == 8 && count == 40 ? 4'b0001
                : FAULT == 13 && ends ? 4'b0011 : 4'b1111;
          count <= ends ? 0 : count + 1;
        end
      end else if (FAULT == 5) last <= 0;
    end
endmodule
