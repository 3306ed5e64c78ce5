"""Accelerators to their units, the first one that takes an operation gets it."""

from __future__ import annotations

from axiloom.application.units.flexasr_linear import LINEAR
from axiloom.application.units.flexasr_lstm import LSTM
from axiloom.application.units.hlscnn_conv import CONV
from axiloom.application.units.unit import Unit
from axiloom.application.units.vta_gemm import GEMM

UNITS: dict[str, tuple[Unit, ...]] = {"flexasr": (LSTM, LINEAR), "hlscnn": (CONV,), "vta": (GEMM,)}
