// The largest pixel of each window, on int8: a small device by hand for the kernel linalg.pooling_nchw_max.
//
//   O[c, oh, ow] = max over fh, fw of I[c, oh * sh + fh * dh, ow * sw + fw * dw]
//
// Instruction set (32-bit words, AXI-Stream):
//   1, then three words of sizes and settings (see DIMS)
//   2, then the image, c x ih x iw pixels        load I
//   3                                            pool, and send O: c x oh x ow results, TLAST on the last word
//
// Pixels and results travel dense, four a word, the first one in the lowest bits; zeros fill up the last word.
// The buffer holds 4096 pixels. The device reads one pixel a cycle, and it keeps no results: a word of four
// goes out as soon as it is full.
`default_nettype none
module maxpool (
    input  wire        aclk,
    input  wire        aresetn,
    input  wire [31:0] s_axis_tdata,
    input  wire        s_axis_tvalid,
    output wire        s_axis_tready,
    input  wire        s_axis_tlast,
    output wire [31:0] m_axis_tdata,
    output wire        m_axis_tvalid,
    input  wire        m_axis_tready,
    output wire        m_axis_tlast
);
    localparam [31:0] OP_DIMS = 1, OP_LOAD = 2, OP_POOL = 3;
    localparam [2:0] FETCH = 0, DIMS = 1, LOAD = 2, POOL = 3, SEND = 4;

    reg [2:0]  state;
    reg [1:0]  field;                        // which of the three words of DIMS
    reg [11:0] c, ih, iw, oh, ow, fh, fw;    // sizes, 12 bits as an address of a pixel has
    reg [11:0] sh, sw, dh, dw;               // strides and dilations
    reg [31:0] image [0:1023];
    reg [9:0]  beat;                         // the word of the image that is loaded
    reg [11:0] channel, y, x, i, j;          // indices of c, oh, ow, fh, fw
    reg signed [7:0] best;                   // of the pixels of this window so far
    reg [31:0] results;
    reg [1:0]  lane;                         // where the next result goes in `results`
    reg        finished;                     // `results` has the tile's last result

    // Full buffers have 4096 pixels, which is 0 in 12 bits; one less is right again.
    wire [11:0] last_pixel = c * ih * iw - 12'd1;

    wire [11:0] pixel = (channel * ih + y * sh + i * dh) * iw + x * sw + j * dw;
    wire [31:0] four = image[pixel[11:2]];
    wire signed [7:0] value = four[{pixel[1:0], 3'b000} +: 8];

    wire first_tap = i == 0 && j == 0;
    wire last_j = j == fw - 12'd1;
    wire last_tap = last_j && i == fh - 12'd1;
    wire last_x = x == ow - 12'd1;
    wire last_y = y == oh - 12'd1;
    wire last_result = last_x && last_y && channel == c - 12'd1;
    wire signed [7:0] largest = (first_tap || value > best) ? value : best;

    assign s_axis_tready = state != POOL && state != SEND;
    assign m_axis_tvalid = state == SEND;
    assign m_axis_tdata  = results;
    assign m_axis_tlast  = finished;  // the DMA ends its transfer here

    wire take = s_axis_tvalid && s_axis_tready;

    always @(posedge aclk) begin
        if (!aresetn) begin
            state <= FETCH;
        end else case (state)
            FETCH: if (take) begin
                field <= 0;
                beat <= 0;
                {channel, y, x, i, j} <= 60'd0;
                results <= 0;
                lane <= 0;
                finished <= 0;
                case (s_axis_tdata)
                    OP_DIMS: state <= DIMS;
                    OP_LOAD: state <= LOAD;
                    OP_POOL: state <= POOL;
                    default: state <= FETCH;
                endcase
            end
            DIMS: if (take) begin
                field <= field + 2'd1;
                case (field)
                    2'd0: begin
                        c  <= {2'b0, s_axis_tdata[9:0]};
                        ih <= {2'b0, s_axis_tdata[19:10]};
                        iw <= s_axis_tdata[31:20];
                    end
                    2'd1: begin
                        oh <= {2'b0, s_axis_tdata[9:0]};
                        ow <= {2'b0, s_axis_tdata[19:10]};
                        fh <= {6'b0, s_axis_tdata[25:20]};
                        fw <= {6'b0, s_axis_tdata[31:26]};
                    end
                    default: begin
                        sh <= {4'b0, s_axis_tdata[7:0]};
                        sw <= {4'b0, s_axis_tdata[15:8]};
                        dh <= {4'b0, s_axis_tdata[23:16]};
                        dw <= {4'b0, s_axis_tdata[31:24]};
                        state <= FETCH;
                    end
                endcase
            end
            LOAD: if (take) begin
                image[beat] <= s_axis_tdata;
                beat <= beat + 10'd1;
                if (beat == last_pixel[11:2]) state <= FETCH;
            end
            POOL: begin
                best <= largest;
                j <= last_j ? 12'd0 : j + 12'd1;
                if (last_j) i <= last_tap ? 12'd0 : i + 12'd1;
                if (last_tap) begin
                    results[{lane, 3'b000} +: 8] <= largest;
                    lane <= lane + 2'd1;
                    x <= last_x ? 12'd0 : x + 12'd1;
                    if (last_x) y <= last_y ? 12'd0 : y + 12'd1;
                    if (last_x && last_y) channel <= channel + 12'd1;
                    finished <= last_result;
                    if (lane == 2'd3 || last_result) state <= SEND;
                end
            end
            SEND: if (m_axis_tready) begin
                results <= 0;  // the last word may have fewer than four
                state <= finished ? FETCH : POOL;
            end
            default: state <= FETCH;
        endcase
    end

    // Sizes say where a tile ends; TLAST towards the device says nothing.
    wire unused = s_axis_tlast;
endmodule
`default_nettype wire
