// rtl/axl_model.v under Verilator, for tests/cosim/test_model_device.py, which drives its ports cycle by cycle.
#include <verilated.h>

#include <cstdint>
#include <cstring>

#include "Vtop.h"

void vl_finish(const char *, int, const char *) {}  // VL_USER_FINISH; nothing here ends a simulation

extern "C" {

struct Outputs {
    uint32_t s_tready, m_tvalid, m_tlast, compute, error, busy, m_tdata[4];
};

// One cycle: the outputs before the edge, under these inputs; then the edge.
void cycle(uint32_t rst, uint32_t s_tvalid, const uint32_t *s_tdata, uint32_t m_tready, Outputs *out) {
    static Vtop *top = new Vtop{new VerilatedContext, ""};
    top->rst = rst;
    top->number = 0;
    top->s_axis_tvalid = s_tvalid;
    std::memcpy(&top->s_axis_tdata, s_tdata, sizeof top->s_axis_tdata);
    top->m_axis_tready = m_tready;
    top->clk = 0;
    top->eval();
    *out = {top->s_axis_tready, top->m_axis_tvalid, top->m_axis_tlast, top->debug_compute, top->debug_error,
            top->debug_busy, {}};
    std::memcpy(out->m_tdata, &top->m_axis_tdata, sizeof top->m_axis_tdata);
    top->clk = 1;
    top->eval();
}
}
