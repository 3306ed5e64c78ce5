// The cache model alone, for tests/cosim/test_memory.py.
#include "memory/memory.hpp"

extern "C" {

// Accesses (bit 0: store; the rest: line number) on caches of the given shape; out: loads missed, stores missed,
// L2 references, L2 misses, write-backs.
void run(const axl_config *config, const uint32_t *accesses, uint32_t n, uint64_t *out) {
    static axl::Memory memory;
    memory.configure(*config);
    memory.reset();
    memory.l2_on = true;
    for (uint32_t i = 0; i < n; i++)
        accesses[i] & 1 ? memory.store(accesses[i] >> 1, 0, 0) : memory.load(accesses[i] >> 1, 0, 0);
    out[0] = memory.load_misses;
    out[1] = memory.store_misses;
    out[2] = memory.l2_references;
    out[3] = memory.l2_misses;
    out[4] = memory.writebacks;
}
}
