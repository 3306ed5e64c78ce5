"""A serial line of 8 data bits, no parity, one stop bit: bits to bytes, and bytes to bits."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

_BITS = 8


def _check_divisor(divisor: object) -> int:
    if not isinstance(divisor, int) or divisor < 4:
        raise ValueError(f"UART divisor must be an integer from 4 on, not {divisor!r}")
    return divisor


class UartReceiver(wiring.Component):
    """Bytes from a line that is high at rest, each sampled in the middle of its bits.

    Parameters
    ----------
    divisor : clock cycles a bit, 4 or more

    Members
    -------
    line : the pin, of no clock
    valid, data : a byte, for one cycle, in the middle of its stop bit
    framing_error : for one cycle: the stop bit was low, and the byte is lost
    """

    def __init__(self, divisor: int) -> None:
        self._divisor = _check_divisor(divisor)
        super().__init__(
            {"line": In(1, init=1), "valid": Out(1), "data": Out(_BITS), "framing_error": Out(1)}
        )

    @property
    def divisor(self) -> int:
        return self._divisor

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # Two registers: the line changes at any time.
        early = Signal(init=1, reset_less=True)
        line = Signal(init=1, reset_less=True)
        m.d.sync += [early.eq(self.line), line.eq(early)]

        left = Signal(range(_BITS + 3))  # bits to come, the start bit among them
        wait = Signal(range(self.divisor))
        m.d.sync += [self.valid.eq(0), self.framing_error.eq(0)]
        with m.If((left == 0) & ~line):
            m.d.sync += [left.eq(_BITS + 2), wait.eq(self.divisor // 2 - 1)]
        with m.Elif(left == 0):
            pass
        with m.Elif(wait != 0):
            m.d.sync += wait.eq(wait - 1)
        with m.Else():
            m.d.sync += [left.eq(left - 1), wait.eq(self.divisor - 1)]
            with m.If((left == _BITS + 2) & line):  # a spike, no start bit
                m.d.sync += left.eq(0)
            with m.Elif(left == 1):
                m.d.sync += [self.valid.eq(line), self.framing_error.eq(~line)]
            with m.Else():
                m.d.sync += self.data.eq(Cat(self.data[1:], line))
        return m


class UartTransmitter(wiring.Component):
    """Bytes to a line that is high at rest.

    Parameters
    ----------
    divisor : clock cycles a bit, 4 or more

    Members
    -------
    bytes : what to send
    line : the pin
    busy : a byte is on the line, its stop bit included
    """

    def __init__(self, divisor: int) -> None:
        self._divisor = _check_divisor(divisor)
        super().__init__({"bytes": In(stream.Signature(_BITS)), "line": Out(1, init=1), "busy": Out(1)})

    @property
    def divisor(self) -> int:
        return self._divisor

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bits = Signal(_BITS + 1, init=~0)  # data and stop bit
        left = Signal(range(_BITS + 3))
        wait = Signal(range(self.divisor))
        m.d.comb += [self.busy.eq(left != 0), self.bytes.ready.eq(~self.busy)]
        with m.If(~self.busy):
            m.d.sync += wait.eq(self.divisor - 1)
            with m.If(self.bytes.valid):
                m.d.sync += [
                    self.line.eq(0),
                    bits.eq(Cat(self.bytes.payload, Const(1, 1))),
                    left.eq(_BITS + 2),
                ]
        with m.Else():
            m.d.sync += wait.eq(Mux(wait == 0, self.divisor - 1, wait - 1))
            with m.If(wait == 0):
                m.d.sync += [
                    self.line.eq(bits[0]),
                    bits.eq(Cat(bits[1:], Const(1, 1))),
                    left.eq(left - 1),
                ]
        return m
