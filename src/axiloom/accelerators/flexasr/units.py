"""`UNITS`: the first one that takes an operation gets it."""

from axiloom.accelerators.flexasr.linear import LINEAR
from axiloom.accelerators.flexasr.lstm import LSTM

UNITS = (LSTM, LINEAR)
