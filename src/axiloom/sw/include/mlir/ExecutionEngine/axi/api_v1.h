/* The class of AXI4MLIR's published drivers by hand, over axiloom.h: under the path that they include, so that their
 * text compiles as it is. Names and arguments are theirs; all else is ours.
 *
 * Lengths and offsets are in 32-bit words. A function with a result gives 0, or -1 where it did nothing. The published
 * functions without a result have no way to fail: here the program ends with the dma_status as its exit code.
 * LOG writes in a Linux process only; on bare metal there is nothing to write to, and its argument is not compiled.
 *
 * Not here, so that a call of it does not compile: acc_init and dump_acc_signals, which read debug registers of the
 * published accelerators. */
#ifndef AXILOOM_API_V1_H
#define AXILOOM_API_V1_H

#ifndef __cplusplus
#error "api_v1.h is for C++: in C include axiloom.h"
#endif

#include "axiloom.h"

#include <algorithm> /* theirs brings std::min with it */
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#if !(AXL_LINUX || AXL_REMOTE) /* of the start-up code */
extern "C" {
extern volatile uint32_t axiloom_exit_code;
void axiloom_exit(void) __attribute__((noreturn));
}
#endif

#ifndef LOG
#if AXL_LINUX
#include <cstdio> /* theirs brings printf with it */
#include <iostream>
#define LOG(x) (std::cout << x << std::endl)
#else
#define LOG(x) ((void)0)
#endif
#endif

struct dma {
    unsigned int *dma_address = nullptr;
    unsigned int *dma_input_address = nullptr;
    unsigned int *dma_output_address = nullptr;
    unsigned int dma_input_buffer_size = 0; /* bytes */
    unsigned int dma_output_buffer_size = 0;

    void dma_init(unsigned int registers, unsigned int in, unsigned int in_bytes, unsigned int out,
                  unsigned int out_bytes) {
        need(::dma_init(registers, in, in_bytes, out, out_bytes));
        dma_address = reinterpret_cast<unsigned int *>(static_cast<uintptr_t>(registers));
        dma_input_address = const_cast<unsigned int *>(words_of(dma_in_buffer()));
        dma_output_address = const_cast<unsigned int *>(words_of(dma_out_buffer()));
        dma_input_buffer_size = in_bytes;
        dma_output_buffer_size = out_bytes;
        started = {registers, in, out};
    }
    /* Resets both channels and starts them again, as dma_init did. */
    void initDMAControls() {
        dma_init(started.registers, started.in, dma_input_buffer_size, started.out, dma_output_buffer_size);
    }
    void dma_free() { need(::dma_free()); }

    unsigned int *dma_get_inbuffer() { return dma_input_address; }
    unsigned int *dma_get_outbuffer() { return dma_output_address; }

    int dma_copy_to_inbuffer(unsigned int *from, int words, int offset) {
        if (!inside(words, offset, dma_input_buffer_size))
            return -1;
        std::memcpy(dma_input_address + offset, from, sizeof(unsigned int) * static_cast<size_t>(words));
        return 0;
    }
    int dma_copy_from_outbuffer(unsigned int *to, int words, int offset) {
        if (!inside(words, offset, dma_output_buffer_size))
            return -1;
        std::memcpy(to, dma_output_address + offset, sizeof(unsigned int) * static_cast<size_t>(words));
        return 0;
    }

    int dma_start_send(int words, int offset) {
        return -(::dma_start_send(static_cast<uint32_t>(words), static_cast<uint32_t>(offset)) != DMA_OK);
    }
    void dma_wait_send() { need(::dma_wait_send()); }
    int dma_check_send() {
        int done = 0;
        need(::dma_check_send(&done));
        return -!done;
    }

    int dma_start_recv(int words, int offset) {
        return -(::dma_start_recv(static_cast<uint32_t>(words), static_cast<uint32_t>(offset)) != DMA_OK);
    }
    void dma_wait_recv() { need(::dma_wait_recv()); }
    int dma_check_recv() {
        int done = 0;
        need(::dma_check_recv(&done));
        return -!done;
    }

    /* A register of the DMA, `offset` bytes behind `registers`. */
    void dma_set(unsigned int *registers, int offset, unsigned int value) { at(registers, offset) = value; }
    unsigned int dma_get(unsigned int *registers, int offset) { return at(registers, offset); }
    void dma_mm2s_sync() { dma_wait_send(); }
    void dma_s2mm_sync() { dma_wait_recv(); }

  private:
    struct {
        unsigned int registers, in, out; /* addresses */
    } started = {0, 0, 0};

    static void need(dma_status status) {
        if (status == DMA_OK)
            return;
#if AXL_LINUX || AXL_REMOTE
        std::exit(status);
#else
        axiloom_exit_code = status;
        axiloom_exit();
#endif
    }
    static volatile unsigned int *words_of(volatile uint32_t *window) {
        return reinterpret_cast<volatile unsigned int *>(window);
    }
    static volatile unsigned int &at(unsigned int *registers, int offset) {
        return *reinterpret_cast<volatile unsigned int *>(reinterpret_cast<uintptr_t>(registers) +
                                                          static_cast<uintptr_t>(offset));
    }
    static bool inside(int words, int offset, unsigned int bytes) {
        return words >= 0 && offset >= 0 && static_cast<uint64_t>(words) + static_cast<uint64_t>(offset) <= bytes / 4;
    }
};

#endif
