// What main.cpp needs of a Verilated design. model.cpp implements it beside the design's own code, so
// that main.cpp and Verilator's runtime are compiled once for all designs.
#ifndef AXL_MODEL_H
#define AXL_MODEL_H

#include <cstdint>

class VerilatedContext;

constexpr uint64_t AXL_NO_EVENT = ~uint64_t{0};

struct AxlTrace {
    const char *file = nullptr;  // nullptr: no trace
    uint64_t begin = 0;          // window in fabric cycles of a job, [begin, end)
    uint64_t end = AXL_NO_EVENT;
};

void axl_model_open(VerilatedContext *context, const AxlTrace &trace);
void axl_model_eval_step();
void axl_model_eval_end_step();
// Time of the design's own next event (delays in Verilog), AXL_NO_EVENT if it has none.
uint64_t axl_model_next_event();
void axl_model_dump();
// Let time pass until `deadline` or until somebody outside has to look; sets the context's time.
// False where nothing will ever happen again.
bool axl_model_advance(uint64_t deadline, uint64_t period);
void axl_model_close();

#endif
