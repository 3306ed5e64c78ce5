// A small memory behind AXI4, with IDs: one burst of reads and one of writes at a time.
module memory #(parameter ADDR_WIDTH = 6, parameter ID_WIDTH = 2) (
    input  wire                  clk, rst,
    input  wire [ID_WIDTH-1:0]   s_axi_awid, input wire [ADDR_WIDTH-1:0] s_axi_awaddr, input wire [7:0] s_axi_awlen,
    input  wire [2:0]            s_axi_awsize, input wire [1:0] s_axi_awburst, input wire s_axi_awvalid,
    output wire                  s_axi_awready,
    input  wire [31:0]           s_axi_wdata, input wire [3:0] s_axi_wstrb, input wire s_axi_wlast, s_axi_wvalid,
    output wire                  s_axi_wready,
    output reg  [ID_WIDTH-1:0]   s_axi_bid, output wire [1:0] s_axi_bresp, output reg s_axi_bvalid,
    input  wire                  s_axi_bready,
    input  wire [ID_WIDTH-1:0]   s_axi_arid, input wire [ADDR_WIDTH-1:0] s_axi_araddr, input wire [7:0] s_axi_arlen,
    input  wire [2:0]            s_axi_arsize, input wire [1:0] s_axi_arburst, input wire s_axi_arvalid,
    output wire                  s_axi_arready,
    output reg  [ID_WIDTH-1:0]   s_axi_rid, output reg [31:0] s_axi_rdata, output wire [1:0] s_axi_rresp,
    output reg                   s_axi_rlast, s_axi_rvalid, input wire s_axi_rready
);
    reg [31:0] words [0:(1 << (ADDR_WIDTH - 2)) - 1];
    reg [ADDR_WIDTH-1:0] waddr, raddr;
    reg writing, reading;
    reg [7:0] left;
    reg [2:0] wsize, rsize;
    reg [1:0] wburst, rburst;
    integer i;
    assign s_axi_bresp = 0, s_axi_rresp = 0;
    assign s_axi_awready = !writing && !s_axi_bvalid;
    assign s_axi_wready  = writing;
    assign s_axi_arready = !reading;
    wire goes = !s_axi_rvalid || s_axi_rready;
    always @(posedge clk) begin
        if (s_axi_bready) s_axi_bvalid <= 0;
        if (s_axi_awvalid && s_axi_awready) begin
            writing <= 1; waddr <= s_axi_awaddr; wsize <= s_axi_awsize; wburst <= s_axi_awburst;
            s_axi_bid <= s_axi_awid;
        end
        if (s_axi_wvalid && s_axi_wready) begin
            for (i = 0; i < 4; i = i + 1) if (s_axi_wstrb[i]) words[waddr >> 2][8*i +: 8] <= s_axi_wdata[8*i +: 8];
            if (wburst != 0) waddr <= waddr + (1 << wsize);
            if (s_axi_wlast) begin writing <= 0; s_axi_bvalid <= 1; end
        end
        if (s_axi_arvalid && s_axi_arready) begin
            reading <= 1; raddr <= s_axi_araddr; rsize <= s_axi_arsize; rburst <= s_axi_arburst; left <= s_axi_arlen;
            s_axi_rid <= s_axi_arid;
        end
        if (goes) begin
            s_axi_rvalid <= reading && !(s_axi_rvalid && s_axi_rlast);
            if (reading && !(s_axi_rvalid && s_axi_rlast)) begin
                s_axi_rdata <= words[raddr >> 2];
                s_axi_rlast <= left == 0;
                left <= left - 1;
                if (rburst != 0) raddr <= raddr + (1 << rsize);
            end
            if (s_axi_rvalid && s_axi_rlast) reading <= 0;
        end
        if (rst) begin writing <= 0; reading <= 0; s_axi_bvalid <= 0; s_axi_rvalid <= 0; end
    end
endmodule
