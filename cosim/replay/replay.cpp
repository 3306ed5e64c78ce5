// A generated driver step by step, at the grain of cache lines and transfers: some milliseconds for what takes
// compiler and simulator some seconds. Called from cosim/replay/__init__.py.
#include "packets.hpp"
#include "queue.hpp"

namespace {

template <typename Kind>
double replayed(const axl::Plan *plan, const axl::Machine *machine, const axl_config *board, const double *cost,
                double *counts, double *parts) {
    Kind driver(*plan, *machine, *board, cost, counts, parts);
    driver.run();
    return driver.finish();
}

} // namespace

// CPU cycles; `counts` (a value a Cost) and `parts` (a value a Part) are added to.
extern "C" double axl_replay(const axl::Plan *plan, const axl::Machine *machine, const axl_config *board,
                             const double *cost, double *counts, double *parts) {
    return plan->queued ? replayed<axl::Queue>(plan, machine, board, cost, counts, parts)
                        : replayed<axl::Packets>(plan, machine, board, cost, counts, parts);
}
