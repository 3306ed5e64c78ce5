// What the host of matmul_start does again and again: it writes ap_start where no size is 0.
module matmul_start_fair (
    input wire ap_clk,
    input wire ap_rst_n,
    input wire [5:0] s_axi_control_AWADDR,
    input wire s_axi_control_AWVALID,
    input wire s_axi_control_AWREADY,
    input wire [31:0] s_axi_control_WDATA,
    input wire s_axi_control_WVALID,
    input wire s_axi_control_WREADY,
    output wire starts
);
    reg [5:0] at;
    reg rows, cols, depth;
    wire writes = s_axi_control_WVALID && s_axi_control_WREADY;
    always @(posedge ap_clk) begin
        if (s_axi_control_AWVALID && s_axi_control_AWREADY) at <= s_axi_control_AWADDR;
        if (!ap_rst_n) {rows, cols, depth} <= 0;
        else if (writes && at == 6'h10) rows <= s_axi_control_WDATA[3:0] != 0;
        else if (writes && at == 6'h18) cols <= s_axi_control_WDATA[3:0] != 0;
        else if (writes && at == 6'h20) depth <= s_axi_control_WDATA[3:0] != 0;
    end
    assign starts = writes && at == 0 && s_axi_control_WDATA[0] && rows && cols && depth;
endmodule
