// System tasks of axiloom_tb.v for Icarus: the core's functions, outputs first argument(s) as listed.
//
//   $axl_cpu_step(op, rdata, resp, irq, now, addr, wdata, delay)   writes op, addr, wdata, delay
//   $axl_mem_read(data, addr)   $axl_master_read(data, addr)       writes data
//   $axl_master_write(addr, data, strb)
//   $axl_mem_write(addr, data, strb)   $axl_stream_in(word, last)   $axl_stream_out(word, last)
//   $axl_protocol_reset   $axl_activity(now, bits)   $axl_cycle(now)   $axl_accelerator(number)
//   $axl_burst(port, writes, addr, len, size, burst, bytes, now)   $axl_answered(port, writes)
//   $axl_last(port, writes, missing, now)
// of axl_watch.v:
//   $axl_breach(port, channel, rule, now, a, b)   $axl_kept(port, now, kept, bytes)   $axl_register(writes, addr, data, now)
// and of axl_model.v:
//   $axl_model_reset(number)   $axl_model_word(number, word)
//   $axl_model_step(flags, number, taken)   $axl_model_out(word, number, lane)   write flags, word
//
// Outputs are integers of the wrapper, which it assigns on with non-blocking assignments: a task
// that wrote the design's registers would race with it.

#include <vpi_user.h>

#include "axl_glue.h"
#include "axl_model.h"
#include "axl_profile.h"

namespace {

constexpr int kMostArguments = 8;

// The argument handles of one call in the source, found once.
struct CallSite {
    vpiHandle argument[kMostArguments];
};

CallSite &site() {
    vpiHandle call = vpi_handle(vpiSysTfCall, nullptr);
    if (void *known = vpi_get_userdata(call)) return *static_cast<CallSite *>(known);
    auto *found = new CallSite();
    vpiHandle iterator = vpi_iterate(vpiArgument, call);
    int count = 0;
    while (vpiHandle argument = vpi_scan(iterator)) {
        if (count < kMostArguments) found->argument[count++] = argument;
    }
    vpi_put_userdata(call, found);
    return *found;
}

// Unknown bits read as zero, as they do in Verilator.
int64_t get(vpiHandle handle) {
    s_vpi_value value;
    value.format = vpiVectorVal;
    vpi_get_value(handle, &value);
    const p_vpi_vecval v = value.value.vector;
    uint64_t bits = static_cast<uint32_t>(v[0].aval & ~v[0].bval);
    if (vpi_get(vpiSize, handle) > 32) bits |= static_cast<uint64_t>(static_cast<uint32_t>(v[1].aval & ~v[1].bval)) << 32;
    return static_cast<int64_t>(bits);
}

void put(vpiHandle handle, int data) {
    s_vpi_value value;
    value.format = vpiIntVal;
    value.value.integer = data;
    vpi_put_value(handle, &value, nullptr, vpiNoDelay);
}

PLI_INT32 cpu_step(PLI_BYTE8 *) {
    CallSite &s = site();
    int addr = 0, wdata = 0, delay = 0;
    const int op = axl_glue_cpu_step(get(s.argument[1]), get(s.argument[2]), get(s.argument[3]), get(s.argument[4]),
                                     &addr, &wdata, &delay);
    put(s.argument[0], op);
    put(s.argument[5], addr);
    put(s.argument[6], wdata);
    put(s.argument[7], delay);
    return 0;
}

PLI_INT32 mem_read(PLI_BYTE8 *) {
    CallSite &s = site();
    put(s.argument[0], axl_mem_read(get(s.argument[1])));
    return 0;
}

PLI_INT32 mem_write(PLI_BYTE8 *) {
    CallSite &s = site();
    axl_mem_write(get(s.argument[0]), get(s.argument[1]), get(s.argument[2]));
    return 0;
}

PLI_INT32 burst(PLI_BYTE8 *) {
    CallSite &s = site();
    axl_burst(get(s.argument[0]), get(s.argument[1]), get(s.argument[2]), get(s.argument[3]), get(s.argument[4]),
              get(s.argument[5]), get(s.argument[6]), get(s.argument[7]));
    return 0;
}

PLI_INT32 answered(PLI_BYTE8 *) {
    CallSite &s = site();
    axl_answered(get(s.argument[0]), get(s.argument[1]));
    return 0;
}

PLI_INT32 last(PLI_BYTE8 *) {
    CallSite &s = site();
    axl_last(get(s.argument[0]), get(s.argument[1]), get(s.argument[2]), get(s.argument[3]));
    return 0;
}

PLI_INT32 breach(PLI_BYTE8 *) {
    CallSite &s = site();
    axl_breach(get(s.argument[0]), get(s.argument[1]), get(s.argument[2]), get(s.argument[3]), get(s.argument[4]),
               get(s.argument[5]));
    return 0;
}

PLI_INT32 kept(PLI_BYTE8 *) {
    CallSite &s = site();
    axl_kept(get(s.argument[0]), get(s.argument[1]), get(s.argument[2]), get(s.argument[3]));
    return 0;
}

PLI_INT32 register_access(PLI_BYTE8 *) {
    CallSite &s = site();
    axl_register(get(s.argument[0]), get(s.argument[1]), get(s.argument[2]), get(s.argument[3]));
    return 0;
}

PLI_INT32 master_read(PLI_BYTE8 *) {
    CallSite &s = site();
    put(s.argument[0], axl_master_read(get(s.argument[1])));
    return 0;
}

PLI_INT32 master_write(PLI_BYTE8 *) {
    CallSite &s = site();
    axl_master_write(get(s.argument[0]), get(s.argument[1]), get(s.argument[2]));
    return 0;
}

PLI_INT32 stream_in(PLI_BYTE8 *) {
    CallSite &s = site();
    axl_stream_in(get(s.argument[0]), get(s.argument[1]));
    return 0;
}

PLI_INT32 stream_out(PLI_BYTE8 *) {
    CallSite &s = site();
    axl_stream_out(get(s.argument[0]), get(s.argument[1]));
    return 0;
}

PLI_INT32 protocol_reset(PLI_BYTE8 *) {
    axl_protocol_reset();
    return 0;
}

PLI_INT32 activity(PLI_BYTE8 *) {
    CallSite &s = site();
    axl_activity(get(s.argument[0]), static_cast<int>(get(s.argument[1])));
    return 0;
}

PLI_INT32 cycle(PLI_BYTE8 *) {
    axl_cycle(get(site().argument[0]));
    return 0;
}

PLI_INT32 accelerator(PLI_BYTE8 *) {
    axl_accelerator(static_cast<int>(get(site().argument[0])));
    return 0;
}

PLI_INT32 model_reset(PLI_BYTE8 *) {
    axl_model_reset(static_cast<int>(get(site().argument[0])));
    return 0;
}

PLI_INT32 model_word(PLI_BYTE8 *) {
    CallSite &s = site();
    axl_model_word(get(s.argument[0]), get(s.argument[1]));
    return 0;
}

PLI_INT32 model_step(PLI_BYTE8 *) {
    CallSite &s = site();
    put(s.argument[0], axl_model_step(get(s.argument[1]), get(s.argument[2])));
    return 0;
}

PLI_INT32 model_out(PLI_BYTE8 *) {
    CallSite &s = site();
    put(s.argument[0], axl_model_out(get(s.argument[1]), get(s.argument[2])));
    return 0;
}

void add_task(const char *name, PLI_INT32 (*function)(PLI_BYTE8 *)) {
    s_vpi_systf_data task = {};
    task.type = vpiSysTask;
    task.tfname = const_cast<PLI_BYTE8 *>(name);
    task.calltf = function;
    vpi_register_systf(&task);
}

void add_tasks() {
    add_task("$axl_cpu_step", cpu_step);
    add_task("$axl_mem_read", mem_read);
    add_task("$axl_mem_write", mem_write);
    add_task("$axl_burst", burst);
    add_task("$axl_answered", answered);
    add_task("$axl_last", last);
    add_task("$axl_breach", breach);
    add_task("$axl_kept", kept);
    add_task("$axl_register", register_access);
    add_task("$axl_master_read", master_read);
    add_task("$axl_master_write", master_write);
    add_task("$axl_stream_in", stream_in);
    add_task("$axl_stream_out", stream_out);
    add_task("$axl_protocol_reset", protocol_reset);
    add_task("$axl_activity", activity);
    add_task("$axl_cycle", cycle);
    add_task("$axl_accelerator", accelerator);
    add_task("$axl_model_reset", model_reset);
    add_task("$axl_model_word", model_word);
    add_task("$axl_model_step", model_step);
    add_task("$axl_model_out", model_out);
}

}  // namespace

extern "C" {
void (*vlog_startup_routines[])() = {add_tasks, nullptr};
}
