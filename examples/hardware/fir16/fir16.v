// A FIR filter of 9 taps for samples of 16 bits, with its coefficients in AXI4-Lite registers. A packet of 72 samples
// gives 64 sums of 32 bits: those of the first 8 samples, which lack samples before them, are left out.
//
//   0x00 ... 0x20  the coefficients, the one of the oldest sample first
`default_nettype none
module fir16 #(
    parameter TAPS = 9
) (
    input  wire        aclk,
    input  wire        aresetn,

    input  wire [5:0]  s_axi_awaddr,
    input  wire        s_axi_awvalid,
    output wire        s_axi_awready,
    input  wire [31:0] s_axi_wdata,
    input  wire [3:0]  s_axi_wstrb,
    input  wire        s_axi_wvalid,
    output wire        s_axi_wready,
    output wire [1:0]  s_axi_bresp,
    output reg         s_axi_bvalid,
    input  wire        s_axi_bready,
    input  wire [5:0]  s_axi_araddr,
    input  wire        s_axi_arvalid,
    output wire        s_axi_arready,
    output reg  [31:0] s_axi_rdata,
    output wire [1:0]  s_axi_rresp,
    output reg         s_axi_rvalid,
    input  wire        s_axi_rready,

    input  wire [15:0] s_axis_tdata,
    input  wire        s_axis_tvalid,
    output wire        s_axis_tready,
    input  wire        s_axis_tlast,

    output reg  [31:0] m_axis_tdata,
    output reg         m_axis_tvalid,
    input  wire        m_axis_tready,
    output reg         m_axis_tlast
);
    reg signed [15:0] tap    [0:TAPS-1];
    reg signed [15:0] sample [0:TAPS-2];  // the newest one is on the stream
    reg        [3:0]  have;               // samples of this packet that are held, up to TAPS - 1

    // --- registers: a write is taken when address and data are both there ----------------------------
    wire write = s_axi_awvalid && s_axi_wvalid && !s_axi_bvalid;
    assign s_axi_awready = write;
    assign s_axi_wready  = write;
    assign s_axi_bresp   = 2'b00;
    assign s_axi_arready = !s_axi_rvalid;
    assign s_axi_rresp   = 2'b00;

    always @(posedge aclk) begin
        if (!aresetn) begin
            s_axi_bvalid <= 0;
            s_axi_rvalid <= 0;
        end else begin
            if (write) begin
                if (s_axi_awaddr[5:2] < TAPS) tap[s_axi_awaddr[5:2]] <= s_axi_wdata[15:0];
                s_axi_bvalid <= 1;
            end else if (s_axi_bready)
                s_axi_bvalid <= 0;
            if (s_axi_arvalid && s_axi_arready) begin
                s_axi_rdata  <= s_axi_araddr[5:2] < TAPS ? {{16{tap[s_axi_araddr[5:2]][15]}}, tap[s_axi_araddr[5:2]]} : 0;
                s_axi_rvalid <= 1;
            end else if (s_axi_rready)
                s_axi_rvalid <= 0;
        end
    end

    // --- the filter ----------------------------------------------------------------------------------
    integer i;
    reg signed [31:0] sum;
    always @* begin
        sum = $signed(s_axis_tdata) * tap[TAPS-1];
        for (i = 0; i < TAPS - 1; i = i + 1) sum = sum + sample[i] * tap[i];
    end

    assign s_axis_tready = !m_axis_tvalid || m_axis_tready;

    always @(posedge aclk) begin
        if (!aresetn) begin
            have          <= 0;
            m_axis_tvalid <= 0;
            m_axis_tlast  <= 0;
        end else begin
            if (m_axis_tready) m_axis_tvalid <= 0;
            if (s_axis_tvalid && s_axis_tready) begin
                for (i = 0; i < TAPS - 2; i = i + 1) sample[i] <= sample[i + 1];
                sample[TAPS-2] <= s_axis_tdata;
                if (have < TAPS - 1) have <= have + 1;
                else begin
                    m_axis_tdata  <= sum;
                    m_axis_tvalid <= 1;
                    m_axis_tlast  <= s_axis_tlast;
                end
                if (s_axis_tlast) have <= 0;
            end
        end
    end
endmodule
