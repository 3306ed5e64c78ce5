  // The memory behind the AXI4 master of a user's accelerator, a part of axiloom_tb.v: a port of its own, as axl_memory.vh
  // has one for each direction of the DMA. Bursts count up, in whole beats; others end the run.
`ifdef AXL_MASTER
  localparam integer UM_WIDTH = `AXL_MASTER, UM_LANES = UM_WIDTH / 32;
  localparam [31:0] UM_WITHIN = UM_WIDTH / 8 - 1;  // beats are aligned, whatever the address of their first byte is

  reg  [31:0] um_ar_addr  [0:7];
  reg  [7:0]  um_ar_left  [0:7];
  reg  [31:0] um_ar_start [0:7];
  reg  [QUEUE_LOG2-1:0] um_ar_head, um_ar_tail;
  reg  [QUEUE_LOG2:0]   um_ar_count;
  reg         um_ar_begun;
  wire [31:0] um_ar_head_addr  = um_ar_addr[um_ar_head];
  wire [7:0]  um_ar_head_left  = um_ar_left[um_ar_head];
  wire        um_ar_head_ready = um_ar_count != 0 && (um_ar_begun || $signed(tick - um_ar_start[um_ar_head]) >= 0);
  wire        um_r_room        = !um_rvalid || um_rready;
  wire        um_r_fetch       = um_ar_head_ready && um_r_room;
  assign um_arready = um_ar_count != QUEUE;

  reg  [31:0] um_aw_addr  [0:7];
  reg  [7:0]  um_aw_left  [0:7];
  reg  [QUEUE_LOG2-1:0] um_aw_head, um_aw_tail;
  reg  [QUEUE_LOG2:0]   um_aw_count;
  reg         um_aw_fault;
  reg  [31:0] um_b_start [0:7];
  reg         um_b_fault [0:7];
  reg  [QUEUE_LOG2-1:0] um_b_head, um_b_tail;
  reg  [QUEUE_LOG2:0]   um_b_count;
  wire [31:0] um_aw_head_addr = um_aw_addr[um_aw_head];
  wire        um_w_beat       = um_wvalid && um_wready;
  wire        um_w_ends       = um_w_beat && um_aw_left[um_aw_head] == 0;  // whatever WLAST says
  wire        um_w_outside    = um_aw_head_addr >= cfg_ram_bytes;
  wire        um_b_room       = !um_bvalid || um_bready;
  wire        um_b_send       = um_b_count != 0 && um_b_room && $signed(tick - um_b_start[um_b_head]) >= 0;
  assign um_awready = um_aw_count != QUEUE;
  assign um_wready  = um_aw_count != 0 && um_b_count != QUEUE;


  wire master_quiet = um_ar_count == 0 && !um_rvalid && um_aw_count == 0 && um_b_count == 0 && !um_bvalid;
  wire master_reads = um_rvalid && um_rready, master_writes = um_w_beat;
  localparam integer MASTER_LANES = UM_LANES;

  reg [UM_WIDTH-1:0]   um_beat;
  reg [UM_WIDTH/8-1:0] um_strb;

  task master_step;
    begin
      if (um_arvalid && um_arready) begin
        `AXL_BURST(PORT_MASTER, 0, um_araddr, {24'b0, um_arlen}, {29'b0, um_arsize}, {30'b0, um_arburst}, UM_WIDTH / 8);
        um_ar_addr[um_ar_tail]  <= um_araddr & ~UM_WITHIN;
        um_ar_left[um_ar_tail]  <= um_arlen;
        um_ar_start[um_ar_tail] <= tick + {16'b0, cfg_read_latency};
        um_ar_tail           <= um_ar_tail + 1'b1;
      end
      if (um_r_fetch) begin
        for (memory_lane = 0; memory_lane < UM_LANES; memory_lane = memory_lane + 1) begin
          `AXL_MASTER_READ(memory_word, um_ar_head_addr + 4 * memory_lane);
          um_beat[32*memory_lane +: 32] = memory_word;
        end
        um_rdata       <= um_beat;
        um_rresp       <= um_ar_head_addr >= cfg_ram_bytes ? DECERR : 2'b00;
        um_rvalid      <= 1'b1;
        um_rlast       <= um_ar_head_left == 0;
        um_ar_addr[um_ar_head] <= um_ar_head_addr + UM_WIDTH / 8;
        um_ar_left[um_ar_head] <= um_ar_head_left - 8'd1;
        um_ar_begun         <= um_ar_head_left != 0;
        if (um_ar_head_left == 0) um_ar_head <= um_ar_head + 1'b1;
      end else if (um_r_room) begin
        um_rvalid <= 1'b0;
      end
      um_ar_count <= um_ar_count + {3'b0, um_arvalid && um_arready} - {3'b0, um_r_fetch && um_ar_head_left == 0};

      // A word is in memory when it is accepted; the response says so later.
      if (um_awvalid && um_awready) begin
        `AXL_BURST(PORT_MASTER, 1, um_awaddr, {24'b0, um_awlen}, {29'b0, um_awsize}, {30'b0, um_awburst}, UM_WIDTH / 8);
        um_aw_addr[um_aw_tail] <= um_awaddr & ~UM_WITHIN;
        um_aw_left[um_aw_tail] <= um_awlen;
        um_aw_tail          <= um_aw_tail + 1'b1;
      end
      if (um_w_beat) begin
        um_beat = um_wdata;
        um_strb = um_wstrb;
        for (memory_lane = 0; memory_lane < UM_LANES; memory_lane = memory_lane + 1) begin
          memory_word = um_beat[32*memory_lane +: 32];
          `AXL_MASTER_WRITE(um_aw_head_addr + 4 * memory_lane, memory_word, {28'b0, um_strb[4*memory_lane +: 4]});
        end
        um_aw_addr[um_aw_head] <= um_aw_head_addr + UM_WIDTH / 8;
        um_aw_left[um_aw_head] <= um_aw_left[um_aw_head] - 8'd1;
        um_aw_fault         <= um_aw_fault || um_w_outside;
        if (um_wlast != um_w_ends) `AXL_LAST(PORT_MASTER, 1, {31'b0, um_w_ends});
        if (um_w_ends) begin
          um_aw_head         <= um_aw_head + 1'b1;
          um_aw_fault        <= 1'b0;
          um_b_start[um_b_tail] <= tick + {16'b0, cfg_write_latency};
          um_b_fault[um_b_tail] <= um_aw_fault || um_w_outside;
          um_b_tail          <= um_b_tail + 1'b1;
        end
      end
      if (um_bvalid && um_bready) `AXL_ANSWERED(PORT_MASTER, 1);
      if (um_rvalid && um_rready && um_rlast) `AXL_ANSWERED(PORT_MASTER, 0);
      if (um_b_send) begin
        um_bvalid <= 1'b1;
        um_bresp  <= um_b_fault[um_b_head] ? DECERR : 2'b00;
        um_b_head      <= um_b_head + 1'b1;
      end else if (um_b_room) begin
        um_bvalid <= 1'b0;
      end
      um_aw_count <= um_aw_count + {3'b0, um_awvalid && um_awready} - {3'b0, um_w_ends};
      um_b_count  <= um_b_count + {3'b0, um_w_ends} - {3'b0, um_b_send};
    end
  endtask


  task master_reset;
    begin
      um_rvalid <= 1'b0;
      um_rlast  <= 1'b0;
      um_rresp  <= 2'b00;
      um_rdata  <= {UM_WIDTH{1'b0}};
      um_ar_head     <= 0;
      um_ar_tail     <= 0;
      um_ar_count    <= 0;
      um_ar_begun    <= 1'b0;
      um_bvalid <= 1'b0;
      um_bresp  <= 2'b00;
      um_aw_head     <= 0;
      um_aw_tail     <= 0;
      um_aw_count    <= 0;
      um_aw_fault    <= 1'b0;
      um_b_head      <= 0;
      um_b_tail      <= 0;
      um_b_count     <= 0;
    end
  endtask
`else
  wire master_quiet = 1'b1, master_reads = 1'b0, master_writes = 1'b0;
  localparam integer MASTER_LANES = 0;

  task master_step;
    begin
    end
  endtask

  task master_reset;
    begin
    end
  endtask
`endif
