// A matrix product of up to 8x8 with its sizes in registers, as a block of Vitis HLS looks from outside: ap_clk,
// ap_rst_n, s_axi_control_*. The host writes the sizes and ap_start; A and B then come on one stream, C goes out
// on another, and ap_done is set until the next start.
//
//   0x00  bit 0: ap_start (write), bit 1: ap_done (read)
//   0x10  rows of A     0x18  columns of B     0x20  columns of A
//
// The sizes are those of the start: writing them while it runs changes the next product. Where one is 0, nothing is
// left to do, and ap_done comes at once.
`default_nettype none
module matmul_start (
    input  wire        ap_clk,
    input  wire        ap_rst_n,

    input  wire [5:0]  s_axi_control_AWADDR,
    input  wire        s_axi_control_AWVALID,
    output wire        s_axi_control_AWREADY,
    input  wire [31:0] s_axi_control_WDATA,
    input  wire [3:0]  s_axi_control_WSTRB,
    input  wire        s_axi_control_WVALID,
    output wire        s_axi_control_WREADY,
    output wire [1:0]  s_axi_control_BRESP,
    output wire        s_axi_control_BVALID,
    input  wire        s_axi_control_BREADY,
    input  wire [5:0]  s_axi_control_ARADDR,
    input  wire        s_axi_control_ARVALID,
    output wire        s_axi_control_ARREADY,
    output wire [31:0] s_axi_control_RDATA,
    output wire [1:0]  s_axi_control_RRESP,
    output wire        s_axi_control_RVALID,
    input  wire        s_axi_control_RREADY,

    input  wire [31:0] in_r_TDATA,
    input  wire        in_r_TVALID,
    output wire        in_r_TREADY,
    input  wire [3:0]  in_r_TKEEP,
    input  wire [3:0]  in_r_TSTRB,
    input  wire        in_r_TLAST,

    output wire [31:0] out_r_TDATA,
    output wire        out_r_TVALID,
    input  wire        out_r_TREADY,
    output wire [3:0]  out_r_TKEEP,
    output wire [3:0]  out_r_TSTRB,
    output wire        out_r_TLAST,

    output wire        interrupt
);
    // --- registers: an address first, then its data, then the answer --------------------------------
    localparam [1:0] W_ADDRESS = 0, W_DATA = 1, W_ANSWER = 2;
    reg [1:0]  w_state;
    reg [5:0]  w_address;
    reg        r_state;
    reg [31:0] r_data;
    reg        start, done;
    reg [3:0]  rows_set, cols_set, depth_set;

    assign s_axi_control_AWREADY = w_state == W_ADDRESS;
    assign s_axi_control_WREADY  = w_state == W_DATA;
    assign s_axi_control_BVALID  = w_state == W_ANSWER;
    assign s_axi_control_BRESP   = 2'b00;
    assign s_axi_control_ARREADY = !r_state;
    assign s_axi_control_RVALID  = r_state;
    assign s_axi_control_RDATA   = r_data;
    assign s_axi_control_RRESP   = 2'b00;
    assign interrupt = done;

    always @(posedge ap_clk) begin
        start <= 0;
        if (!ap_rst_n) begin
            w_state <= W_ADDRESS;
            r_state <= 0;
            rows_set <= 0;
            cols_set <= 0;
            depth_set <= 0;
        end else begin
            if (w_state == W_ADDRESS && s_axi_control_AWVALID) begin
                w_address <= s_axi_control_AWADDR;
                w_state <= W_DATA;
            end
            if (w_state == W_DATA && s_axi_control_WVALID) begin
                w_state <= W_ANSWER;
                case (w_address)
                    6'h00: start <= s_axi_control_WDATA[0];
                    6'h10: rows_set <= s_axi_control_WDATA[3:0];
                    6'h18: cols_set <= s_axi_control_WDATA[3:0];
                    6'h20: depth_set <= s_axi_control_WDATA[3:0];
                    default: ;
                endcase
            end
            if (w_state == W_ANSWER && s_axi_control_BREADY) w_state <= W_ADDRESS;
            if (!r_state && s_axi_control_ARVALID) begin
                r_state <= 1;
                r_data <= s_axi_control_ARADDR == 6'h00 ? {30'd0, done, 1'b0} : 32'd0;
            end
            if (r_state && s_axi_control_RREADY) r_state <= 0;
        end
    end

    // --- the product ---------------------------------------------------------------------------------
    localparam [2:0] IDLE = 0, LOAD_A = 1, LOAD_B = 2, COMPUTE = 3, SEND = 4;
    reg [2:0]  state;
    reg [3:0]  rows, cols, depth;  // of this product
    reg [3:0]  i, j, k;
    reg signed [31:0] a [0:63];
    reg signed [31:0] b [0:63];
    reg signed [31:0] sum;

    assign in_r_TREADY  = state == LOAD_A || state == LOAD_B;
    assign out_r_TVALID = state == SEND;
    assign out_r_TDATA  = sum;
    assign out_r_TKEEP  = 4'hf;
    assign out_r_TSTRB  = 4'hf;
    assign out_r_TLAST  = i == rows - 1 && j == cols - 1;

    always @(posedge ap_clk) begin
        if (!ap_rst_n) begin
            state <= IDLE;
            done <= 0;
        end else case (state)
            IDLE: if (start) begin
                {i, j, k} <= 0;
                {rows, cols, depth} <= {rows_set, cols_set, depth_set};
                if (rows_set == 0 || cols_set == 0 || depth_set == 0) done <= 1;
                else begin
                    done <= 0;
                    state <= LOAD_A;
                end
            end
            LOAD_A: if (in_r_TVALID) begin
                a[{i[2:0], k[2:0]}] <= in_r_TDATA;
                k <= k + 1;
                if (k == depth - 1) begin
                    k <= 0;
                    i <= i + 1;
                    if (i == rows - 1) begin
                        i <= 0;
                        state <= LOAD_B;
                    end
                end
            end
            LOAD_B: if (in_r_TVALID) begin
                b[{k[2:0], j[2:0]}] <= in_r_TDATA;
                j <= j + 1;
                if (j == cols - 1) begin
                    j <= 0;
                    k <= k + 1;
                    if (k == depth - 1) begin
                        k <= 0;
                        sum <= 0;
                        state <= COMPUTE;
                    end
                end
            end
            COMPUTE: begin
                sum <= sum + a[{i[2:0], k[2:0]}] * b[{k[2:0], j[2:0]}];
                k <= k + 1;
                if (k == depth - 1) state <= SEND;
            end
            SEND: if (out_r_TREADY) begin
                k <= 0;
                sum <= 0;
                j <= j + 1;
                state <= COMPUTE;
                if (j == cols - 1) begin
                    j <= 0;
                    i <= i + 1;
                    if (i == rows - 1) begin
                        i <= 0;
                        done <= 1;
                        state <= IDLE;
                    end
                end
            end
            default: state <= IDLE;
        endcase
    end

    wire unused = &{in_r_TKEEP, in_r_TSTRB, in_r_TLAST, s_axi_control_WSTRB};
endmodule
`default_nettype wire
