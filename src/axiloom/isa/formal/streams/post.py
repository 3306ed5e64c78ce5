"""Requantise as a term: a sum in int32 to an element in int8 (:mod:`axiloom.isa.kernels.requantise`)."""

from __future__ import annotations

import z3

from axiloom.isa.contract.types import WORD_BITS as WORD
from axiloom.isa.formal.streams.state import Bits, State

_WIDE = 64


def requantised(model: State, value: Bits, bias: Bits, scale: Bits, zp: Bits, low: Bits, high: Bits) -> Bits:
    """``min(max((((value + bias) * multiplier + half) >> shift) + zp, low), high)``, in 8 bits."""
    function = model.function("requantised", WORD, WORD, WORD, 8, 8, 8, 8, python=python, exact=exact)
    return function(value, bias, scale, zp, low, high)


def exact(value: Bits, bias: Bits, scale: Bits, zp: Bits, low: Bits, high: Bits) -> Bits:
    """Its terms: 64 bits hold everything between."""
    zp, low, high = (z3.SignExt(_WIDE - 8, one) for one in (zp, low, high))
    multiplier = z3.ZeroExt(_WIDE - 16, z3.Extract(15, 0, scale))
    shift = z3.ZeroExt(_WIDE - 6, z3.Extract(21, 16, scale))
    half = z3.LShR(z3.BitVecVal(1, _WIDE) << shift, 1)
    scaled = (z3.SignExt(_WIDE - WORD, value + bias) * multiplier + half) >> shift
    moved = scaled + zp
    raised = z3.If(moved < low, low, moved)
    return z3.Extract(7, 0, z3.If(raised > high, high, raised))


def python(value: int, bias: int, scale: int, zp: int, low: int, high: int) -> int:
    """The same in Python's integers, for simulations of a model that does not say what it is."""
    zp, low, high = (_signed(one, 8) for one in (zp, low, high))
    multiplier, shift = scale & 0xFFFF, scale >> 16 & 63
    biased = _signed((value + bias) & (1 << WORD) - 1, WORD)
    scaled = (biased * multiplier + ((1 << shift) >> 1)) >> shift
    return min(max(scaled + zp, low), high) & 0xFF


def _signed(value: int, bits: int) -> int:
    return value - (value >> bits - 1 << bits)
