// Four registers behind AXI4-Lite, with registers in front of each READY: addresses and data come in any order.
module lite_regs (
    input  wire        s_axi_aclk, s_axi_aresetn,
    input  wire [3:0]  s_axi_awaddr, input wire s_axi_awvalid, output wire s_axi_awready,
    input  wire [31:0] s_axi_wdata, input wire [3:0] s_axi_wstrb, input wire s_axi_wvalid, output wire s_axi_wready,
    output wire [1:0]  s_axi_bresp, output reg s_axi_bvalid, input wire s_axi_bready,
    input  wire [3:0]  s_axi_araddr, input wire s_axi_arvalid, output wire s_axi_arready,
    output reg  [31:0] s_axi_rdata, output wire [1:0] s_axi_rresp, output reg s_axi_rvalid, input wire s_axi_rready
);
    reg        has_addr, has_data;
    reg [1:0]  addr;
    reg [31:0] data, r0, r1, r2, r3;
    reg [3:0]  strb;
    integer i;
    assign s_axi_awready = !has_addr;
    assign s_axi_wready  = !has_data;
    assign s_axi_bresp   = 0;
    assign s_axi_rresp   = 0;
    wire writes = has_addr && has_data && (!s_axi_bvalid || s_axi_bready);
    wire [31:0] mask = {{8{strb[3]}}, {8{strb[2]}}, {8{strb[1]}}, {8{strb[0]}}};
    assign s_axi_arready = !s_axi_rvalid || s_axi_rready;
    always @(posedge s_axi_aclk)
        if (!s_axi_aresetn) begin
            has_addr <= 0; has_data <= 0; s_axi_bvalid <= 0; s_axi_rvalid <= 0;
        end else begin
            if (s_axi_awvalid && s_axi_awready) begin has_addr <= 1; addr <= s_axi_awaddr[3:2]; end
            if (s_axi_wvalid && s_axi_wready) begin has_data <= 1; data <= s_axi_wdata; strb <= s_axi_wstrb; end
            if (s_axi_bready) s_axi_bvalid <= 0;
            if (writes) begin
                has_addr <= 0; has_data <= 0; s_axi_bvalid <= 1;
                case (addr)
                    0: r0 <= (r0 & ~mask) | (data & mask);
                    1: r1 <= (r1 & ~mask) | (data & mask);
                    2: r2 <= (r2 & ~mask) | (data & mask);
                    3: r3 <= (r3 & ~mask) | (data & mask);
                endcase
            end
            if (s_axi_rready) s_axi_rvalid <= 0;
            if (s_axi_arvalid && s_axi_arready) begin
                s_axi_rvalid <= 1;
                s_axi_rdata  <= s_axi_araddr[3] ? (s_axi_araddr[2] ? r3 : r2) : (s_axi_araddr[2] ? r1 : r0);
            end
        end
endmodule
