// The CPU's own stack. Switching instead of stopping the engine means that no guest instruction is ever restarted
// (uc_emu_stop inside a device callback leaves the PC on the load or store: it would happen twice).
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace axl {

#ifdef __x86_64__

// swapcontext saves the signal mask by two system calls a switch, which is most of the cost of a register access.
// This saves what the System V ABI wants kept (the floating-point modes are the same on both sides).
__attribute__((naked, noinline)) inline void switch_stack(void ** /*from*/, void * /*to*/) {
    asm("pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
        "movq %rsp, (%rdi)\n"
        "movq %rsi, %rsp\n"
        "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n"
        "ret\n");
}

class Context {
  public:
    void start(void *stack, size_t size, void (*entry)()) {
        auto *top = reinterpret_cast<uint64_t *>(static_cast<char *>(stack) + size);
        *--top = 0; // where a return address would be: keeps the alignment the ABI wants at a function's entry
        *--top = reinterpret_cast<uint64_t>(entry);
        for (int saved = 0; saved < 6; saved++)
            *--top = 0;
        pointer = top;
    }
    void leave_for(Context &other) { switch_stack(&pointer, other.pointer); }

  private:
    void *pointer = nullptr;
};

#else

class Context {
  public:
    void start(void *stack, size_t size, void (*entry)()) {
        getcontext(&context);
        context.uc_stack.ss_sp = stack;
        context.uc_stack.ss_size = size;
        context.uc_link = nullptr;
        makecontext(&context, entry, 0);
    }
    void leave_for(Context &other) { swapcontext(&context, &other.context); }

  private:
    ucontext_t context{};
};

#endif

class Fibre {
  public:
    bool active() const { return running; } // started and not returned

    // Run the fibre until it suspends or its function returns; the first time from `entry`.
    void resume(void (*entry)()) {
        if (!running)
            prepare(entry);
        running = true;
        outside.leave_for(inside);
    }

    void suspend() { inside.leave_for(outside); }

    // The fibre's function ends with this: it does not come back.
    void finish() {
        running = false;
        inside.leave_for(outside);
    }

  private:
    static constexpr size_t STACK = 8u << 20; // the engine's translator recurses
    Context inside, outside;
    void *stack = nullptr;
    bool running = false;

    void prepare(void (*entry)()) {
        if (!stack)
            stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        inside.start(stack, STACK, entry);
    }
};

} // namespace axl
