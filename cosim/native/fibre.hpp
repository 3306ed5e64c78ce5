// The CPU's own stack. Switching instead of stopping the engine means that no guest instruction is ever restarted
// (uc_emu_stop inside a device callback leaves the PC on the load or store: it would happen twice).
#pragma once

#include <sys/mman.h>
#include <ucontext.h>

namespace axl {

class Fibre {
  public:
    bool active() const { return running; } // started and not returned

    // Run the fibre until it suspends or its function returns; the first time from `entry`.
    void resume(void (*entry)()) {
        if (!running)
            prepare(entry);
        running = true;
        swapcontext(&outside, &inside);
    }

    void suspend() { swapcontext(&inside, &outside); }

    // The fibre's function ends with this: it does not come back.
    void finish() {
        running = false;
        swapcontext(&inside, &outside);
    }

  private:
    static constexpr size_t STACK = 8u << 20; // the engine's translator recurses
    ucontext_t inside{}, outside{};
    void *stack = nullptr;
    bool running = false;

    void prepare(void (*entry)()) {
        if (!stack)
            stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        getcontext(&inside);
        inside.uc_stack.ss_sp = stack;
        inside.uc_stack.ss_size = STACK;
        inside.uc_link = nullptr;
        makecontext(&inside, entry, 0);
    }
};

} // namespace axl
