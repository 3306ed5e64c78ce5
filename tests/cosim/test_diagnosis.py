"""The words in which a stopped run is explained."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from axiloom.cosim.diagnosis import Channel, Device, Outcome, Stopped, dmasr, exit_message, hang_message

QUIET = Channel(status=0x1002, bytes_asked=68, words_moved=17, valid=False, ready=True, busy=False)
STARVED = Channel(status=0, bytes_asked=64, words_moved=4, valid=False, ready=True, busy=True)
BLOCKED = Channel(status=0, bytes_asked=64, words_moved=4, valid=True, ready=False, busy=True)
DEVICE = Device(
    name="",
    error=0,
    mm2s=QUIET,
    s2mm=STARVED,
    protocol="input: last opcode cC is complete (35 words in)",
)
STOPPED = Stopped(
    outcome=Outcome.STALL,
    reason="",
    cycles=23011,
    devices=(DEVICE,),
    cpu="CPU at 0x00100000 (main)",
)


def stopped(outcome: Outcome = Outcome.STALL, **device: Any) -> Stopped:
    return replace(STOPPED, outcome=outcome, devices=(replace(DEVICE, **device),))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0x0000_1002, "0x00001002 (Idle, IOC_Irq)"),
        (0x0000_4011, "0x00004011 (Halted, DMAIntErr, Err_Irq)"),
        (0x0000_4509, "0x00004509 (Halted, SGIntErr, SGDecErr, Err_Irq)"),
        (0, "0x00000000 (running, not idle)"),
    ],
)
def test_status_registers_are_spelled_out(value: int, text: str) -> None:
    assert dmasr(value) == text


def test_a_receive_without_words() -> None:
    assert hang_message(STOPPED) == (
        "no progress, stopped after 23,011 fabric cycles: "
        "m_axis (from the device, S2MM) stalls, the device sends nothing: "
        "16 words expected, 4 received, 12 missing; "
        "input: last opcode cC is complete (35 words in); "
        "MM2S_DMASR 0x00001002 (Idle, IOC_Irq), S2MM_DMASR 0x00000000 (running, not idle); "
        "CPU at 0x00100000 (main)"
    )


def test_a_device_that_takes_nothing() -> None:
    message = hang_message(stopped(mm2s=BLOCKED, s2mm=QUIET))
    assert (
        "s_axis (to the device, MM2S) stalls, the device takes no more words: 4 of 16 words sent" in message
    )


def test_a_device_that_nobody_listens_to() -> None:
    message = hang_message(stopped(s2mm=replace(BLOCKED, busy=False)))
    assert (
        "m_axis (from the device, S2MM) stalls, the device has words that no receive was started for"
        in message
    )


def test_with_scatter_gather_the_descriptor_is_named() -> None:
    of_descriptor = {"descriptor": 0x15F00040}
    message = hang_message(
        stopped(mm2s=replace(BLOCKED, **of_descriptor), s2mm=replace(BLOCKED, busy=False, **of_descriptor))
    )
    assert (
        "s_axis (to the device, MM2S) stalls, the device takes no more words: "
        "4 of 16 words sent for the descriptor at 0x15F00040; "
        "m_axis (from the device, S2MM) stalls, the device has words that no descriptor is there for; "
    ) in message


def test_an_error_of_the_device_comes_first() -> None:
    message = hang_message(stopped(Outcome.DEVICE_ERROR, error=1))
    assert message.startswith(
        "stopped after 23,011 fabric cycles: the accelerator stopped with UNKNOWN_OPCODE; m_axis"
    )


def test_of_several_the_one_that_hangs_is_named() -> None:
    devices = (
        replace(DEVICE, name="v3_8", s2mm=QUIET, protocol="input: no opcode yet"),
        replace(DEVICE, name="v4_16", error=1),
    )
    assert hang_message(replace(STOPPED, devices=devices)) == (
        "stopped after 23,011 fabric cycles: "
        "v4_16: the accelerator stopped with UNKNOWN_OPCODE; "
        "v4_16: m_axis (from the device, S2MM) stalls, the device sends nothing: "
        "16 words expected, 4 received, 12 missing; "
        "v3_8: input: no opcode yet; "
        "MM2S_DMASR 0x00001002 (Idle, IOC_Irq), S2MM_DMASR 0x00001002 (Idle, IOC_Irq); "
        "v4_16: input: last opcode cC is complete (35 words in); "
        "MM2S_DMASR 0x00001002 (Idle, IOC_Irq), S2MM_DMASR 0x00000000 (running, not idle); "
        "CPU at 0x00100000 (main)"
    )


def test_an_interrupt_that_never_comes() -> None:
    message = hang_message(stopped(Outcome.NO_IRQ, s2mm=QUIET))
    assert "the CPU waits for an interrupt and nothing in flight can raise one" in message


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (7, "the driver returned 7, DMA_ERR_SHORT: TLAST came before all the words asked for"),
        (1000, "the driver returned 1000"),
    ],
)
def test_exit_codes_are_statuses_of_the_runtime(code: int, text: str) -> None:
    assert exit_message(stopped(s2mm=QUIET), code) == text


def test_a_failed_driver_says_what_it_left_unfinished() -> None:
    message = exit_message(STOPPED, 8)
    assert message.startswith("the driver returned 8, DMA_ERR_TIMEOUT: AXL_TIMEOUT_US passed; m_axis")
    assert "12 missing" in message
