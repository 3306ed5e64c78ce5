// The simulator's program under Verilator: a Verilated design, and cocotb in the same process.
//
// Regions of a time step are IEEE 1800's: values settle, then read-write callbacks, then read-only
// ones, then time goes on. axl_model_advance decides how far.
//
// Arguments: +axl_period_ps=N          fabric clock
//            +axl_trace=FILE [+axl_trace_begin=CYCLE +axl_trace_end=CYCLE]

#include <verilated.h>
#include <verilated_vpi.h>

#include <cstdlib>
#include <cstring>

#include "model.h"

extern "C" void vlog_startup_routines_bootstrap();  // cocotb

namespace {

const char *argument(int argc, char **argv, const char *name) {
    const size_t length = std::strlen(name);
    for (int i = 1; i < argc; ++i) {
        if (!std::strncmp(argv[i], name, length)) return argv[i] + length;
    }
    return nullptr;
}

uint64_t number(const char *text, uint64_t otherwise) { return text ? std::strtoull(text, nullptr, 10) : otherwise; }

void settle() {
    while (VerilatedVpi::callValueCbs()) {
    }
}

void time_step() {
    do {
        do {
            axl_model_eval_step();
            VerilatedVpi::clearEvalNeeded();
            VerilatedVpi::doInertialPuts();
            settle();
        } while (VerilatedVpi::evalNeeded());
        VerilatedVpi::callCbs(cbReadWriteSynch);
        VerilatedVpi::doInertialPuts();
        settle();
    } while (VerilatedVpi::evalNeeded());
    axl_model_eval_end_step();
    VerilatedVpi::callCbs(cbReadOnlySynch);
    axl_model_dump();
}

}  // namespace

// $finish, without Verilator's line about it on stdout (VL_USER_FINISH).
void vl_finish(const char *, int, const char *) { Verilated::threadContextp()->gotFinish(true); }

int main(int argc, char **argv) {
    VerilatedContext *context = Verilated::threadContextp();
    context->commandArgs(argc, argv);
    context->fatalOnVpiError(false);  // cocotb asks for objects that may not exist

    AxlTrace trace;
    trace.file = argument(argc, argv, "+axl_trace=");
    trace.begin = number(argument(argc, argv, "+axl_trace_begin="), trace.begin);
    trace.end = number(argument(argc, argv, "+axl_trace_end="), trace.end);
    const uint64_t period = number(argument(argc, argv, "+axl_period_ps="), 10000);
    if (trace.file) context->traceEverOn(true);
    axl_model_open(context, trace);

    vlog_startup_routines_bootstrap();
    VerilatedVpi::callCbs(cbStartOfSimulation);
    settle();
    while (!context->gotFinish()) {
        time_step();
        if (context->gotFinish()) break;
        if (!axl_model_advance(VerilatedVpi::cbNextDeadline(), period)) break;
        VerilatedVpi::callCbs(cbNextSimTime);
        settle();
        VerilatedVpi::callTimedCbs();
        settle();
    }
    VerilatedVpi::callCbs(cbEndOfSimulation);
    axl_model_close();
    return context->errorCount() > 0 ? 1 : 0;
}
