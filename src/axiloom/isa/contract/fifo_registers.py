"""The registers of the AXI4-Stream FIFO: AMD PG080 (v4.3), "Register Space". Offsets in bytes."""

from __future__ import annotations

from enum import IntEnum


class Fifo(IntEnum):
    """ISR is cleared by ones; TDFR, RDFR and SRR take :data:`KEY`."""

    ISR = 0x00
    IER = 0x04
    TDFR = 0x08
    TDFV = 0x0C
    TDFD = 0x10
    TLR = 0x14
    RDFR = 0x18
    RDFO = 0x1C
    RDFD = 0x20
    RLR = 0x24
    SRR = 0x28
    TDR = 0x2C
    RDR = 0x30


KEY = 0xA5
"""What resets one side, or the streams."""
ISR_RESET = 0x01D0_0000


class Interrupt(IntEnum):
    """Bits of ISR and IER."""

    RPURE = 31
    RPORE = 30
    RPUE = 29
    TPOE = 28
    TC = 27
    RC = 26
    TSE = 25
    TRC = 24
    RRC = 23
    TFPF = 22
    TFPE = 21
    RFPF = 20
    RFPE = 19
