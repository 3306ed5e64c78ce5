/* Registers of the AXI DMA (AMD PG021, v7.1), the same in both channels. Not for drivers.
 * Written by `python -m tools.registers --write` from isa/contract/dma_registers.py. */
#ifndef AXL_DMA_REGISTERS_H
#define AXL_DMA_REGISTERS_H

enum { MM2S = 0x00, S2MM = 0x30 };
enum {
    DMACR = 0x00,
    DMASR = 0x04,
    CURDESC = 0x08,
    TAILDESC = 0x10,
    ADDRESS = 0x18,
    AHEADDESC = 0x20,
    LENGTH = 0x28,
};
/* Of fields that are wider than a bit: the lowest one. */
enum {
    DMACR_RS = 1u << 0,
    DMACR_RESET = 1u << 2,
    DMACR_CYCLIC_BD_ENABLE = 1u << 4,
    DMACR_IOC_IRQEN = 1u << 12,
    DMACR_DLY_IRQEN = 1u << 13,
    DMACR_ERR_IRQEN = 1u << 14,
    DMACR_IRQTHRESHOLD = 1u << 16,
    DMACR_IRQDELAY = 1u << 24,
    DMASR_HALTED = 1u << 0,
    DMASR_IDLE = 1u << 1,
    DMASR_SGINCLD = 1u << 3,
    DMASR_DMAINTERR = 1u << 4,
    DMASR_DMASLVERR = 1u << 5,
    DMASR_DMADECERR = 1u << 6,
    DMASR_SGINTERR = 1u << 8,
    DMASR_SGSLVERR = 1u << 9,
    DMASR_SGDECERR = 1u << 10,
    DMASR_IOC_IRQ = 1u << 12,
    DMASR_DLY_IRQ = 1u << 13,
    DMASR_ERR_IRQ = 1u << 14,
    DMASR_ERRORS = 0x770u,
};

#endif
