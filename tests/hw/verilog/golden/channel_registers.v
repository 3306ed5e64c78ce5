module channel_registers (
  input  wire aclk,
  input  wire aresetn,
  input  wire write_control,
  input  wire write_status,
  input  wire write_address,
  input  wire write_length,
  input  wire [31:0] write_data,
  output wire [31:0] control,
  output wire [31:0] status,
  input  wire resetting,
  output wire command_start,
  output wire [31:0] command_address,
  output wire [25:0] command_length,
  input  wire mover_active,
  input  wire mover_done,
  input  wire mover_slave_error,
  input  wire mover_decode_error,
  input  wire [25:0] received,
  input  wire overflow,
  output wire introut
);
  wire _2;
  wire any_error;
  wire busy;
  reg [31:0] command_address_2 = 32'd0;
  reg [25:0] command_length_2 = 26'h0000000;
  reg command_start_2 = 1'h0;
  reg delay_enable = 1'h0;
  reg dma_dec_err = 1'h0;
  reg dma_int_err = 1'h0;
  reg dma_slv_err = 1'h0;
  reg error_enable = 1'h0;
  reg error_irq = 1'h0;
  wire halted;
  reg idle = 1'h0;
  reg ioc_enable = 1'h0;
  reg ioc_irq = 1'h0;
  reg [7:0] irq_delay = 8'h00;
  reg [7:0] irq_threshold = 8'h01;
  reg refused = 1'h0;
  wire rst;
  reg run = 1'h0;
  wire wanted;
  wire wrong;
  always @(posedge aclk) begin
    if (write_address) command_address_2 <= write_data;
    if (rst) command_address_2 <= 32'd0;
  end
  always @(posedge aclk) begin
    if (write_length & ~busy) command_length_2 <= write_data[25:0];
    if (rst) command_length_2 <= 26'h0000000;
  end
  always @(posedge aclk) begin
    command_start_2 <= wanted & ~wrong;
    if (rst) command_start_2 <= 1'h0;
  end
  always @(posedge aclk) begin
    refused <= wanted & wrong;
    if (rst) refused <= 1'h0;
  end
  always @(posedge aclk) begin
    if (halted | command_start_2) idle <= 1'h0;
    if (mover_done) idle <= 1'h1;
    if (rst) idle <= 1'h0;
  end
  always @(posedge aclk) begin
    if (overflow | refused) dma_int_err <= 1'h1;
    if (rst) dma_int_err <= 1'h0;
  end
  always @(posedge aclk) begin
    if (mover_slave_error) dma_slv_err <= 1'h1;
    if (rst) dma_slv_err <= 1'h0;
  end
  always @(posedge aclk) begin
    if (mover_decode_error) dma_dec_err <= 1'h1;
    if (rst) dma_dec_err <= 1'h0;
  end
  assign _2 = idle & ~halted;
  assign busy = command_start_2 | mover_active;
  assign halted = ~run & ~busy;
  assign any_error = dma_int_err | dma_slv_err | dma_dec_err;
  assign introut = (ioc_irq & ioc_enable) | (error_irq & error_enable);
  assign wanted = write_length & run & ~any_error & ~refused & ~busy & (|write_data[25:0]);
  assign wrong = (|command_address_2[1:0]) | (write_data[25:0] < 26'h1);
  assign rst = ~aresetn;
  always @(posedge aclk) begin
    if (write_control) run <= write_data[0];
    if (any_error | refused) run <= 1'h0;
    if (rst) run <= 1'h0;
  end
  always @(posedge aclk) begin
    if (write_control) ioc_enable <= write_data[12];
    if (rst) ioc_enable <= 1'h0;
  end
  always @(posedge aclk) begin
    if (write_control) delay_enable <= write_data[13];
    if (rst) delay_enable <= 1'h0;
  end
  always @(posedge aclk) begin
    if (write_control) error_enable <= write_data[14];
    if (rst) error_enable <= 1'h0;
  end
  always @(posedge aclk) begin
    if (write_control) irq_delay <= write_data[31:24];
    if (rst) irq_delay <= 8'h00;
  end
  always @(posedge aclk) begin
    if (write_control) begin
      if (|write_data[23:16]) irq_threshold <= write_data[23:16];
    end
    if (rst) irq_threshold <= 8'h01;
  end
  always @(posedge aclk) begin
    if (write_status) ioc_irq <= ioc_irq & ~write_data[12];
    if (mover_done) ioc_irq <= 1'h1;
    if (rst) ioc_irq <= 1'h0;
  end
  always @(posedge aclk) begin
    if (write_status) error_irq <= error_irq & ~write_data[14];
    if (overflow | refused) error_irq <= 1'h1;
    if (mover_slave_error) error_irq <= 1'h1;
    if (mover_decode_error) error_irq <= 1'h1;
    if (rst) error_irq <= 1'h0;
  end
  assign control = { irq_delay, irq_threshold, 1'h0, error_enable, delay_enable, ioc_enable, 9'h000, resetting, 1'h1, run };
  assign status = { 17'h00000, error_irq, 1'h0, ioc_irq, 5'h00, dma_dec_err, dma_slv_err, dma_int_err, 2'h0, _2, halted };
  assign command_start = command_start_2;
  assign command_address = command_address_2;
  assign command_length = command_length_2;
endmodule
