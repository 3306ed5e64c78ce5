  // The memory of axiloom_tb.v, a part of that module: its ports' slaves, as tasks of the one process.
  //
  // A high-performance port of the Zynq takes several bursts before it has answered the first, and
  // DDR delivers a beat a fabric cycle easily (a 64-bit port at this clock has just that), so the
  // model is a latency and then one beat a cycle; the latency of a burst runs from its own
  // address, so that of queued bursts overlaps. Eight bursts in flight each way is what the
  // port's acceptance capability allows at least; a master that issues one at a time pays the
  // latency every time. Banks, refresh and the CPU's own traffic are not modelled: the board's
  // latency is a mean. Ports do not disturb each other either.

  localparam QUEUE_LOG2 = 3;
  localparam [QUEUE_LOG2:0] QUEUE = 1 << QUEUE_LOG2;

  reg  [31:0] tick;  // evaluated cycles; only differences matter, and none spans a jump

  reg  [31:0] ar_addr  [0:7];
  reg  [7:0]  ar_left  [0:7];
  reg  [31:0] ar_start [0:7];
  reg  [QUEUE_LOG2-1:0] ar_head, ar_tail;
  reg  [QUEUE_LOG2:0]   ar_count;
  reg         ar_begun;
  wire [31:0] ar_head_addr  = ar_addr[ar_head];
  wire [7:0]  ar_head_left  = ar_left[ar_head];
  wire        ar_head_ready = ar_count != 0 && (ar_begun || $signed(tick - ar_start[ar_head]) >= 0);
  wire        r_room        = !mm2s_rvalid || mm2s_rready;
  wire        r_fetch       = ar_head_ready && r_room;
  assign mm2s_arready = ar_count != QUEUE;

  reg  [31:0] aw_addr  [0:7];
  reg  [7:0]  aw_left  [0:7];
  reg  [QUEUE_LOG2-1:0] aw_head, aw_tail;
  reg  [QUEUE_LOG2:0]   aw_count;
  reg         aw_fault;
  reg  [31:0] b_start [0:7];
  reg         b_fault [0:7];
  reg  [QUEUE_LOG2-1:0] b_head, b_tail;
  reg  [QUEUE_LOG2:0]   b_count;
  wire [31:0] aw_head_addr = aw_addr[aw_head];
  wire        w_beat       = s2mm_wvalid && s2mm_wready;
  wire        w_ends       = w_beat && aw_left[aw_head] == 0;  // whatever WLAST says
  wire        w_outside    = aw_head_addr >= cfg_ram_bytes;
  wire        b_room       = !s2mm_bvalid || s2mm_bready;
  wire        b_send       = b_count != 0 && b_room && $signed(tick - b_start[b_head]) >= 0;
  assign s2mm_awready = aw_count != QUEUE;
  assign s2mm_wready  = aw_count != 0 && b_count != QUEUE;

  wire data_quiet = ar_count == 0 && !mm2s_rvalid && aw_count == 0 && b_count == 0 && !s2mm_bvalid;

  integer           memory_lane, memory_word;
  reg [WIDTH-1:0]   memory_beat;
  reg [WIDTH/8-1:0] memory_strb;

  task data_step;
    begin
      if (mm2s_arvalid && mm2s_arready) begin
        `AXL_BURST(PORT_MM2S, 0, mm2s_araddr, {24'b0, mm2s_arlen}, {29'b0, mm2s_arsize}, {30'b0, mm2s_arburst}, WIDTH / 8);
        ar_addr[ar_tail]  <= mm2s_araddr;
        ar_left[ar_tail]  <= mm2s_arlen;
        ar_start[ar_tail] <= tick + {16'b0, cfg_read_latency};
        ar_tail           <= ar_tail + 1'b1;
      end
      if (r_fetch) begin
        for (memory_lane = 0; memory_lane < LANES; memory_lane = memory_lane + 1) begin
          `AXL_MEM_READ(memory_word, ar_head_addr + 4 * memory_lane);
          memory_beat[32*memory_lane +: 32] = memory_word;
        end
        mm2s_rdata       <= memory_beat;
        mm2s_rresp       <= ar_head_addr >= cfg_ram_bytes ? DECERR : 2'b00;
        mm2s_rvalid      <= 1'b1;
        mm2s_rlast       <= ar_head_left == 0;
        ar_addr[ar_head] <= ar_head_addr + WIDTH / 8;
        ar_left[ar_head] <= ar_head_left - 8'd1;
        ar_begun         <= ar_head_left != 0;
        if (ar_head_left == 0) ar_head <= ar_head + 1'b1;
      end else if (r_room) begin
        mm2s_rvalid <= 1'b0;
      end
      ar_count <= ar_count + {3'b0, mm2s_arvalid && mm2s_arready} - {3'b0, r_fetch && ar_head_left == 0};

      // A word is in memory when it is accepted; the response says so later.
      if (s2mm_awvalid && s2mm_awready) begin
        `AXL_BURST(PORT_S2MM, 1, s2mm_awaddr, {24'b0, s2mm_awlen}, {29'b0, s2mm_awsize}, {30'b0, s2mm_awburst}, WIDTH / 8);
        aw_addr[aw_tail] <= s2mm_awaddr;
        aw_left[aw_tail] <= s2mm_awlen;
        aw_tail          <= aw_tail + 1'b1;
      end
      if (w_beat) begin
        memory_beat = s2mm_wdata;
        memory_strb = s2mm_wstrb;
        for (memory_lane = 0; memory_lane < LANES; memory_lane = memory_lane + 1) begin
          memory_word = memory_beat[32*memory_lane +: 32];
          `AXL_MEM_WRITE(aw_head_addr + 4 * memory_lane, memory_word, {28'b0, memory_strb[4*memory_lane +: 4]});
        end
        aw_addr[aw_head] <= aw_head_addr + WIDTH / 8;
        aw_left[aw_head] <= aw_left[aw_head] - 8'd1;
        aw_fault         <= aw_fault || w_outside;
        if (s2mm_wlast != w_ends) `AXL_LAST(PORT_S2MM, 1, {31'b0, w_ends});
        if (w_ends) begin
          aw_head         <= aw_head + 1'b1;
          aw_fault        <= 1'b0;
          b_start[b_tail] <= tick + {16'b0, cfg_write_latency};
          b_fault[b_tail] <= aw_fault || w_outside;
          b_tail          <= b_tail + 1'b1;
        end
      end
      if (b_send) begin
        s2mm_bvalid <= 1'b1;
        s2mm_bresp  <= b_fault[b_head] ? DECERR : 2'b00;
        b_head      <= b_head + 1'b1;
      end else if (b_room) begin
        s2mm_bvalid <= 1'b0;
      end
      aw_count <= aw_count + {3'b0, s2mm_awvalid && s2mm_awready} - {3'b0, w_ends};
      b_count  <= b_count + {3'b0, w_ends} - {3'b0, b_send};
    end
  endtask

  task data_reset;
    begin
      tick        <= 32'd0;
      mm2s_rvalid <= 1'b0;
      mm2s_rlast  <= 1'b0;
      mm2s_rresp  <= 2'b00;
      mm2s_rdata  <= {WIDTH{1'b0}};
      ar_head     <= 0;
      ar_tail     <= 0;
      ar_count    <= 0;
      ar_begun    <= 1'b0;
      s2mm_bvalid <= 1'b0;
      s2mm_bresp  <= 2'b00;
      aw_head     <= 0;
      aw_tail     <= 0;
      aw_count    <= 0;
      aw_fault    <= 1'b0;
      b_head      <= 0;
      b_tail      <= 0;
      b_count     <= 0;
    end
  endtask

`ifdef AXL_SG
  // The descriptors' port: the same, at 64 bits, for bursts that are read and single beats that are written.
  reg  [31:0] sg_ar_addr  [0:7];
  reg  [7:0]  sg_ar_left  [0:7];
  reg  [31:0] sg_ar_start [0:7];
  reg  [QUEUE_LOG2-1:0] sg_ar_head, sg_ar_tail;
  reg  [QUEUE_LOG2:0]   sg_ar_count;
  reg         sg_ar_begun;
  wire [31:0] sg_head_addr  = sg_ar_addr[sg_ar_head];
  wire [7:0]  sg_head_left  = sg_ar_left[sg_ar_head];
  wire        sg_head_ready = sg_ar_count != 0 && (sg_ar_begun || $signed(tick - sg_ar_start[sg_ar_head]) >= 0);
  wire        sg_r_room     = !sg_rvalid || sg_rready;
  wire        sg_r_fetch    = sg_head_ready && sg_r_room;
  assign sg_arready = sg_ar_count != QUEUE;

  reg  [31:0] sg_aw_addr;
  reg         sg_aw_held;
  reg  [31:0] sg_b_start [0:7];
  reg         sg_b_fault [0:7];
  reg  [QUEUE_LOG2-1:0] sg_b_head, sg_b_tail;
  reg  [QUEUE_LOG2:0]   sg_b_count;
  wire        sg_w_beat  = sg_wvalid && sg_wready;
  wire        sg_b_room  = !sg_bvalid || sg_bready;
  wire        sg_b_send  = sg_b_count != 0 && sg_b_room && $signed(tick - sg_b_start[sg_b_head]) >= 0;
  assign sg_awready = !sg_aw_held || sg_w_beat;
  assign sg_wready  = sg_aw_held && sg_b_count != QUEUE;

  wire memory_quiet = data_quiet && sg_ar_count == 0 && !sg_rvalid && !sg_aw_held && sg_b_count == 0 && !sg_bvalid;

  task memory_step;
    begin
      tick <= tick + 32'd1;
      data_step;
      if (sg_arvalid && sg_arready) begin
        `AXL_BURST(PORT_SG, 0, sg_araddr, {24'b0, sg_arlen}, {29'b0, sg_arsize}, {30'b0, sg_arburst}, 8);
        sg_ar_addr[sg_ar_tail]  <= sg_araddr;
        sg_ar_left[sg_ar_tail]  <= sg_arlen;
        sg_ar_start[sg_ar_tail] <= tick + {16'b0, cfg_read_latency};
        sg_ar_tail              <= sg_ar_tail + 1'b1;
      end
      if (sg_r_fetch) begin
        `AXL_MEM_READ(memory_word, sg_head_addr);
        sg_rdata[31:0]         <= memory_word;
        `AXL_MEM_READ(memory_word, sg_head_addr + 32'd4);
        sg_rdata[63:32]        <= memory_word;
        sg_rresp               <= sg_head_addr >= cfg_ram_bytes ? DECERR : 2'b00;
        sg_rvalid              <= 1'b1;
        sg_rlast               <= sg_head_left == 0;
        sg_ar_addr[sg_ar_head] <= sg_head_addr + 32'd8;
        sg_ar_left[sg_ar_head] <= sg_head_left - 8'd1;
        sg_ar_begun            <= sg_head_left != 0;
        if (sg_head_left == 0) sg_ar_head <= sg_ar_head + 1'b1;
      end else if (sg_r_room) begin
        sg_rvalid <= 1'b0;
      end
      sg_ar_count <= sg_ar_count + {3'b0, sg_arvalid && sg_arready} - {3'b0, sg_r_fetch && sg_head_left == 0};

      if (sg_awvalid && sg_awready) begin
        `AXL_BURST(PORT_SG, 1, sg_awaddr, {24'b0, sg_awlen}, {29'b0, sg_awsize}, {30'b0, sg_awburst}, 8);
        sg_aw_addr <= sg_awaddr;
      end
      sg_aw_held <= (sg_awvalid && sg_awready) || (sg_aw_held && !sg_w_beat);
      if (sg_w_beat) begin
        if (!sg_wlast) `AXL_LAST(PORT_SG, 1, 1);
        for (memory_lane = 0; memory_lane < 2; memory_lane = memory_lane + 1) begin
          memory_word = sg_wdata[32*memory_lane +: 32];
          `AXL_MEM_WRITE(sg_aw_addr + 4 * memory_lane, memory_word, {28'b0, sg_wstrb[4*memory_lane +: 4]});
        end
        sg_b_start[sg_b_tail] <= tick + {16'b0, cfg_write_latency};
        sg_b_fault[sg_b_tail] <= sg_aw_addr >= cfg_ram_bytes;
        sg_b_tail             <= sg_b_tail + 1'b1;
      end
      if (sg_b_send) begin
        sg_bvalid <= 1'b1;
        sg_bresp  <= sg_b_fault[sg_b_head] ? DECERR : 2'b00;
        sg_b_head <= sg_b_head + 1'b1;
      end else if (sg_b_room) begin
        sg_bvalid <= 1'b0;
      end
      sg_b_count <= sg_b_count + {3'b0, sg_w_beat} - {3'b0, sg_b_send};
    end
  endtask

  task memory_reset;
    begin
      data_reset;
      sg_rvalid   <= 1'b0;
      sg_rlast    <= 1'b0;
      sg_rresp    <= 2'b00;
      sg_rdata    <= 64'd0;
      sg_ar_head  <= 0;
      sg_ar_tail  <= 0;
      sg_ar_count <= 0;
      sg_ar_begun <= 1'b0;
      sg_aw_addr  <= 32'd0;
      sg_aw_held  <= 1'b0;
      sg_bvalid   <= 1'b0;
      sg_bresp    <= 2'b00;
      sg_b_head   <= 0;
      sg_b_tail   <= 0;
      sg_b_count  <= 0;
    end
  endtask
`else
  wire memory_quiet = data_quiet;

  task memory_step;
    begin
      tick <= tick + 32'd1;
      data_step;
    end
  endtask

  task memory_reset;
    data_reset;
  endtask
`endif
