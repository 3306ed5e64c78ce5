// The design's side of main.cpp, compiled in one unit with the Verilated code.
//
// With AXL_SOC the top is axiloom_tb and its clock is toggled here: cocotb is asked only at its own
// deadlines and when `done` changes, which is what keeps a run at the speed of a bare Verilator loop.
// Without it (ordinary cocotb tests) every event is cocotb's or the design's own.

#include <verilated.h>

#include "Vtop.h"
#include "model.h"
#if VM_TRACE_FST
#include <verilated_fst_c.h>
using AxlTraceFile = VerilatedFstC;
#elif VM_TRACE_VCD
#include <verilated_vcd_c.h>
using AxlTraceFile = VerilatedVcdC;
#endif

namespace {
VerilatedContext *context;
Vtop *top;
AxlTrace window;
#if VM_TRACE
AxlTraceFile *trace_file;
bool dumped;
#endif
}  // namespace

void axl_model_open(VerilatedContext *with, const AxlTrace &trace) {
    context = with;
    window = trace;
    top = new Vtop{context, ""};
#if VM_TRACE
    if (trace.file) {
        trace_file = new AxlTraceFile;
        top->trace(trace_file, 99);
        trace_file->open(trace.file);
    }
#endif
}

void axl_model_eval_step() { top->eval_step(); }
void axl_model_eval_end_step() { top->eval_end_step(); }
uint64_t axl_model_next_event() { return top->eventsPending() ? top->nextTimeSlot() : AXL_NO_EVENT; }

void axl_model_dump() {
#if VM_TRACE
    if (!trace_file) return;
#ifdef AXL_SOC
    if (!top->ctl_go || top->now < window.begin || top->now >= window.end) return;
#endif
    trace_file->dump(context->time());
    dumped = true;
#endif
}

void axl_model_close() {
#if VM_TRACE
    // Verilator's FST of no dump at all is no FST; while only the CPU runs, the hardware is not evaluated.
    if (trace_file && !dumped) trace_file->dump(context->time());
#endif
    top->final();
#if VM_TRACE
    if (trace_file) trace_file->close();
#endif
    delete top;
}

#ifdef AXL_SOC
namespace {
// What Vtop::eval does besides this is for classes, threads and the first call, at a cost of 5 % of a cycle.
// The generated code is in this unit, so the compiler sees through it.
inline void evaluate() {
#if VM_TRACE
    top->eval();  // it also keeps the trace's activity flags
#else
    Vtop___024root___eval(top->rootp);
#endif
}
}  // namespace

bool axl_model_advance(uint64_t deadline, uint64_t period) {
    static uint64_t last_edge = 0;
    const CData done = top->done;
    for (;;) {
        // Skipped cycles are a long low phase before the edge at which `now` jumps.
        uint64_t edge = last_edge + period * (uint64_t{1} + top->skip);
        if (edge < context->time()) edge = context->time();  // a skip was called off by ctl_reset
        if (edge > deadline) break;
        last_edge = edge;
        top->clk_in = 1;
        context->time(edge);
        evaluate();
        axl_model_dump();
        top->clk_in = 0;
#if VM_TRACE
        context->time(edge + period / 2);
        evaluate();
        axl_model_dump();
#else
        evaluate();
#endif
        if (top->done != done || context->gotFinish()) return true;
    }
    if (context->time() < deadline) context->time(deadline);
    return true;
}
#else
bool axl_model_advance(uint64_t deadline, uint64_t) {
    const uint64_t event = axl_model_next_event();
    const uint64_t next = deadline < event ? deadline : event;
    if (next == AXL_NO_EVENT) return false;
    context->time(next);
    return true;
}
#endif
