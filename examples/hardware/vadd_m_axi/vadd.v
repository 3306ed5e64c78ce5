// c[i] = a[i] + b[i] for i < n, as Vitis HLS makes it of a C function with three pointers in one bundle and a length:
// ap_ctrl_hs and the arguments in s_axi_control, data through m_axi_gmem in bursts of up to 16 beats.
//
//   0x00  bit 0 ap_start (write 1; cleared at the end), bit 1 ap_done (cleared by a read), bit 2 ap_idle, bit 3 ap_ready
//   0x04  global interrupt enable   0x08  interrupt enable   0x0c  interrupt status (write 1: toggle)
//   0x10  a, lower half   0x14  a, upper half
//   0x1c  b, lower half   0x20  b, upper half
//   0x28  c, lower half   0x2c  c, upper half
//   0x34  n
`default_nettype none
module vadd #(
    parameter C_M_AXI_GMEM_ADDR_WIDTH = 64,
    parameter C_M_AXI_GMEM_DATA_WIDTH = 32,
    parameter C_M_AXI_GMEM_ID_WIDTH   = 1,
    parameter C_S_AXI_CONTROL_ADDR_WIDTH = 6
) (
    input  wire        ap_clk,
    input  wire        ap_rst_n,

    output wire                                 m_axi_gmem_AWVALID,
    input  wire                                 m_axi_gmem_AWREADY,
    output wire [C_M_AXI_GMEM_ADDR_WIDTH-1:0]   m_axi_gmem_AWADDR,
    output wire [C_M_AXI_GMEM_ID_WIDTH-1:0]     m_axi_gmem_AWID,
    output wire [7:0]                           m_axi_gmem_AWLEN,
    output wire [2:0]                           m_axi_gmem_AWSIZE,
    output wire [1:0]                           m_axi_gmem_AWBURST,
    output wire [1:0]                           m_axi_gmem_AWLOCK,
    output wire [3:0]                           m_axi_gmem_AWCACHE,
    output wire [2:0]                           m_axi_gmem_AWPROT,
    output wire [3:0]                           m_axi_gmem_AWQOS,
    output wire [3:0]                           m_axi_gmem_AWREGION,
    output wire                                 m_axi_gmem_WVALID,
    input  wire                                 m_axi_gmem_WREADY,
    output wire [C_M_AXI_GMEM_DATA_WIDTH-1:0]   m_axi_gmem_WDATA,
    output wire [C_M_AXI_GMEM_DATA_WIDTH/8-1:0] m_axi_gmem_WSTRB,
    output wire                                 m_axi_gmem_WLAST,
    output wire [C_M_AXI_GMEM_ID_WIDTH-1:0]     m_axi_gmem_WID,
    output wire                                 m_axi_gmem_ARVALID,
    input  wire                                 m_axi_gmem_ARREADY,
    output wire [C_M_AXI_GMEM_ADDR_WIDTH-1:0]   m_axi_gmem_ARADDR,
    output wire [C_M_AXI_GMEM_ID_WIDTH-1:0]     m_axi_gmem_ARID,
    output wire [7:0]                           m_axi_gmem_ARLEN,
    output wire [2:0]                           m_axi_gmem_ARSIZE,
    output wire [1:0]                           m_axi_gmem_ARBURST,
    output wire [1:0]                           m_axi_gmem_ARLOCK,
    output wire [3:0]                           m_axi_gmem_ARCACHE,
    output wire [2:0]                           m_axi_gmem_ARPROT,
    output wire [3:0]                           m_axi_gmem_ARQOS,
    output wire [3:0]                           m_axi_gmem_ARREGION,
    input  wire                                 m_axi_gmem_RVALID,
    output wire                                 m_axi_gmem_RREADY,
    input  wire [C_M_AXI_GMEM_DATA_WIDTH-1:0]   m_axi_gmem_RDATA,
    input  wire                                 m_axi_gmem_RLAST,
    input  wire [C_M_AXI_GMEM_ID_WIDTH-1:0]     m_axi_gmem_RID,
    input  wire [1:0]                           m_axi_gmem_RRESP,
    input  wire                                 m_axi_gmem_BVALID,
    output wire                                 m_axi_gmem_BREADY,
    input  wire [1:0]                           m_axi_gmem_BRESP,
    input  wire [C_M_AXI_GMEM_ID_WIDTH-1:0]     m_axi_gmem_BID,

    input  wire                                  s_axi_control_AWVALID,
    output wire                                  s_axi_control_AWREADY,
    input  wire [C_S_AXI_CONTROL_ADDR_WIDTH-1:0] s_axi_control_AWADDR,
    input  wire                                  s_axi_control_WVALID,
    output wire                                  s_axi_control_WREADY,
    input  wire [31:0]                           s_axi_control_WDATA,
    input  wire [3:0]                            s_axi_control_WSTRB,
    input  wire                                  s_axi_control_ARVALID,
    output wire                                  s_axi_control_ARREADY,
    input  wire [C_S_AXI_CONTROL_ADDR_WIDTH-1:0] s_axi_control_ARADDR,
    output wire                                  s_axi_control_RVALID,
    input  wire                                  s_axi_control_RREADY,
    output wire [31:0]                           s_axi_control_RDATA,
    output wire [1:0]                            s_axi_control_RRESP,
    output wire                                  s_axi_control_BVALID,
    input  wire                                  s_axi_control_BREADY,
    output wire [1:0]                            s_axi_control_BRESP,
    output wire                                  interrupt
);
    // --- the arguments -------------------------------------------------------------------------------
    localparam [5:0] CTRL = 6'h00, GIE = 6'h04, IER = 6'h08, ISR = 6'h0c,
                     A_LOW = 6'h10, A_HIGH = 6'h14, B_LOW = 6'h1c, B_HIGH = 6'h20,
                     C_LOW = 6'h28, C_HIGH = 6'h2c, N = 6'h34;
    reg [63:0] a, b, c;
    reg [31:0] n;
    reg        ap_start, ap_done, gie, ier, isr;
    wire       ap_ready;   // the last word of c is in memory
    wire       ap_idle;

    localparam [1:0] W_IDLE = 0, W_DATA = 1, W_RESP = 2;
    reg [1:0]  wstate;
    reg [5:0]  waddr;
    reg        rstate;
    reg [31:0] rdata;
    wire       w_hs  = s_axi_control_WVALID && s_axi_control_WREADY;
    wire       ar_hs = s_axi_control_ARVALID && s_axi_control_ARREADY;
    wire [5:0] raddr = s_axi_control_ARADDR;
    assign s_axi_control_AWREADY = wstate == W_IDLE;
    assign s_axi_control_WREADY  = wstate == W_DATA;
    assign s_axi_control_BVALID  = wstate == W_RESP;
    assign s_axi_control_BRESP   = 2'b00;
    assign s_axi_control_ARREADY = !rstate;
    assign s_axi_control_RVALID  = rstate;
    assign s_axi_control_RDATA   = rdata;
    assign s_axi_control_RRESP   = 2'b00;
    assign interrupt = gie && isr;

    always @(posedge ap_clk) begin
        if (!ap_rst_n) begin
            wstate   <= W_IDLE;
            rstate   <= 0;
            ap_start <= 0;
            ap_done  <= 0;
            gie      <= 0;
            ier      <= 0;
            isr      <= 0;
            {a, b, c, n} <= 0;
        end else begin
            case (wstate)
                W_IDLE: if (s_axi_control_AWVALID) begin
                    waddr  <= s_axi_control_AWADDR;
                    wstate <= W_DATA;
                end
                W_DATA: if (s_axi_control_WVALID) wstate <= W_RESP;
                default: if (s_axi_control_BREADY) wstate <= W_IDLE;
            endcase
            if (w_hs) case (waddr)
                GIE:    gie      <= s_axi_control_WDATA[0];
                IER:    ier      <= s_axi_control_WDATA[0];
                A_LOW:  a[31:0]  <= s_axi_control_WDATA;
                A_HIGH: a[63:32] <= s_axi_control_WDATA;
                B_LOW:  b[31:0]  <= s_axi_control_WDATA;
                B_HIGH: b[63:32] <= s_axi_control_WDATA;
                C_LOW:  c[31:0]  <= s_axi_control_WDATA;
                C_HIGH: c[63:32] <= s_axi_control_WDATA;
                N:      n        <= s_axi_control_WDATA;
                default: ;
            endcase

            if (w_hs && waddr == CTRL && s_axi_control_WDATA[0]) ap_start <= 1;
            else if (ap_ready) ap_start <= 0;
            if (ap_ready) ap_done <= 1;
            else if (ar_hs && raddr == CTRL) ap_done <= 0;
            if (ier && ap_ready) isr <= 1;
            else if (w_hs && waddr == ISR) isr <= isr ^ s_axi_control_WDATA[0];

            if (ar_hs) begin
                rstate <= 1;
                case (raddr)
                    CTRL:   rdata <= {28'b0, ap_ready, ap_idle, ap_done, ap_start};
                    GIE:    rdata <= {31'b0, gie};
                    IER:    rdata <= {31'b0, ier};
                    ISR:    rdata <= {31'b0, isr};
                    A_LOW:  rdata <= a[31:0];
                    A_HIGH: rdata <= a[63:32];
                    B_LOW:  rdata <= b[31:0];
                    B_HIGH: rdata <= b[63:32];
                    C_LOW:  rdata <= c[31:0];
                    C_HIGH: rdata <= c[63:32];
                    N:      rdata <= n;
                    default: rdata <= 0;
                endcase
            end else if (s_axi_control_RREADY) rstate <= 0;
        end
    end

    // --- up to 16 words at a time: a comes, b comes and is added, the sums go ------------------------
    localparam [2:0] IDLE = 0, ASK_A = 1, READ_A = 2, ASK_B = 3, READ_B = 4, WRITE_C = 5, ANSWER = 6;
    reg [2:0]  state;
    reg        asking;       // for the write's address; its data do not wait for it (IHI 0022, A3.3.1)
    // What is left to be done: the registers may be written while it runs. Words are aligned.
    reg [63:2] at_a, at_b, at_c;
    reg [31:0] left;
    reg [4:0]  beat, words;  // of this burst
    reg [31:0] sum [0:15];
    wire       last = beat == words - 5'd1;

    // Words of a burst, which crosses 4 KiB in none of the three (IHI 0022, A3.4.1).
    function [4:0] burst(input [31:0] to_do, input [9:0] a_word, input [9:0] b_word, input [9:0] c_word);
        burst = least(least(least(least(5'd16, to_do), to_page(a_word)), to_page(b_word)), to_page(c_word));
    endfunction
    function [4:0] least(input [4:0] most, input [31:0] other);
        least = other < {27'b0, most} ? other[4:0] : most;
    endfunction
    function [31:0] to_page(input [9:0] word);
        to_page = 32'd1024 - {22'b0, word};
    endfunction
    wire [61:0] next_a = at_a + {57'b0, words};
    wire [61:0] next_b = at_b + {57'b0, words};
    wire [61:0] next_c = at_c + {57'b0, words};
    wire [31:0] rest   = left - {27'b0, words};

    assign ap_idle  = state == IDLE;
    assign ap_ready = (state == ANSWER && m_axi_gmem_BVALID && rest == 0) ||
                      (state == IDLE && ap_start && n == 0);

    assign m_axi_gmem_ARVALID = state == ASK_A || state == ASK_B;
    assign m_axi_gmem_ARADDR  = {state == ASK_B ? at_b : at_a, 2'b00};
    assign m_axi_gmem_ARLEN   = {3'b0, words} - 8'd1;
    assign m_axi_gmem_RREADY  = state == READ_A || state == READ_B;
    assign m_axi_gmem_AWVALID = asking;
    assign m_axi_gmem_AWADDR  = {at_c, 2'b00};
    assign m_axi_gmem_AWLEN   = {3'b0, words} - 8'd1;
    assign m_axi_gmem_WVALID  = state == WRITE_C;
    assign m_axi_gmem_WDATA   = sum[beat[3:0]];
    assign m_axi_gmem_WSTRB   = 4'b1111;
    assign m_axi_gmem_WLAST   = last;
    assign m_axi_gmem_BREADY  = state == ANSWER;

    assign m_axi_gmem_ARSIZE  = 3'b010;
    assign m_axi_gmem_AWSIZE  = 3'b010;
    assign m_axi_gmem_ARBURST = 2'b01;
    assign m_axi_gmem_AWBURST = 2'b01;
    assign m_axi_gmem_ARCACHE = 4'b0011;
    assign m_axi_gmem_AWCACHE = 4'b0011;
    assign m_axi_gmem_ARPROT  = 3'b000;
    assign m_axi_gmem_AWPROT  = 3'b000;
    assign m_axi_gmem_ARLOCK  = 2'b00;
    assign m_axi_gmem_AWLOCK  = 2'b00;
    assign m_axi_gmem_ARQOS   = 4'b0000;
    assign m_axi_gmem_AWQOS   = 4'b0000;
    assign m_axi_gmem_ARREGION = 4'b0000;
    assign m_axi_gmem_AWREGION = 4'b0000;
    assign m_axi_gmem_ARID    = 0;
    assign m_axi_gmem_AWID    = 0;
    assign m_axi_gmem_WID     = 0;

    always @(posedge ap_clk) begin
        if (!ap_rst_n) begin
            state  <= IDLE;
            asking <= 0;
        end else begin
            if (m_axi_gmem_AWREADY) asking <= 0;
            case (state)
                IDLE: if (ap_start && n != 0) begin
                    at_a  <= a[63:2];
                    at_b  <= b[63:2];
                    at_c  <= c[63:2];
                    left  <= n;
                    words <= burst(n, a[11:2], b[11:2], c[11:2]);
                    state <= ASK_A;
                end
                ASK_A: if (m_axi_gmem_ARREADY) begin
                    beat  <= 0;
                    state <= READ_A;
                end
                READ_A: if (m_axi_gmem_RVALID) begin
                    sum[beat[3:0]] <= m_axi_gmem_RDATA;
                    beat           <= beat + 1;
                    if (last) state <= ASK_B;
                end
                ASK_B: if (m_axi_gmem_ARREADY) begin
                    beat  <= 0;
                    state <= READ_B;
                end
                READ_B: if (m_axi_gmem_RVALID) begin
                    sum[beat[3:0]] <= sum[beat[3:0]] + m_axi_gmem_RDATA;
                    beat           <= beat + 1;
                    if (last) begin
                        beat   <= 0;
                        asking <= 1;
                        state  <= WRITE_C;
                    end
                end
                WRITE_C: if (m_axi_gmem_WREADY) begin
                    beat <= beat + 1;
                    if (last) state <= ANSWER;
                end
                default: if (m_axi_gmem_BVALID) begin
                    at_a  <= next_a;
                    at_b  <= next_b;
                    at_c  <= next_c;
                    left  <= rest;
                    words <= burst(rest, next_a[9:0], next_b[9:0], next_c[9:0]);
                    state <= rest == 0 ? IDLE : ASK_A;
                end
            endcase
        end
    end
endmodule
