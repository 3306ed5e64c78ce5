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

#include <cstring>

extern "C" {

// Words that CPU and DMA move, with data: kind (see OPERATIONS in test_memory.py), address, value; out: what is read.
void play(const axl_config *config, uint8_t *ram, const uint32_t *operations, uint32_t n, uint32_t *out) {
    static axl::Memory memory;
    memory.configure(*config);
    memory.contents.ram = ram;
    memory.reset();
    memory.l2_on = true;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t kind = operations[3 * i], address = operations[3 * i + 1], value = operations[3 * i + 2];
        const uint32_t line = address >> memory.line_shift;
        out[i] = 0;
        if (kind == 0) {
            memory.load(line, address, 4);
            memcpy(&out[i], ram + address, 4);
        } else if (kind == 1) {
            memory.store(line, address, 4);
            memcpy(ram + address, &value, 4);
        } else if (kind == 2) {
            if (memory.dma_read(line))
                memcpy(&out[i], ram + address, 4);
            else
                out[i] = memory.dma_word(address);
        } else if (kind == 3) {
            if (memory.dma_write(line))
                memcpy(ram + address, &value, 4);
            else
                memory.dma_store(address, value, 15);
        } else if (kind < 7) {
            memory.l1_line(line, kind - 3); // 1: clean, 2: invalidate, 3: both
        } else {
            memory.l2_line(line, kind - 6);
        }
    }
    out[n] = static_cast<uint32_t>(memory.stale.list.size());
}
}
