// A generated driver step by step, at the grain of cache lines and transfers: some milliseconds for what takes
// compiler and simulator some seconds. Called from cosim/replay/__init__.py.
#include "packets.hpp"
#include "queue.hpp"

namespace {

template <typename Kind>
double replayed(const axl::Plan *plan, const axl::Machine *machine, const axl_config *board, const double *cost,
                double *counts, double *parts, int32_t calls, double *returned) {
    Kind driver(*plan, *machine, *board, cost, counts, parts);
    for (int32_t call = 0; call < calls; call++, driver.again()) {
        driver.run();
        returned[call] = driver.elapsed();
    }
    return driver.finish();
}

} // namespace

// CPU cycles of `calls` calls one after the other; `counts` (a value a Cost) and `parts` (a value a Part) are added to,
// `returned` is when each call has returned.
extern "C" double axl_replay(const axl::Plan *plan, const axl::Machine *machine, const axl_config *board,
                             const double *cost, double *counts, double *parts, int32_t calls, double *returned) {
    return plan->queued ? replayed<axl::Queue>(plan, machine, board, cost, counts, parts, calls, returned)
                        : replayed<axl::Packets>(plan, machine, board, cost, counts, parts, calls, returned);
}
