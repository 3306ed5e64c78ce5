"""The blocks in torch, by another hand than the front end: each output by the same operations in the same
order as linalg has them (input channel, ky, kx). Numbers are float32; torch keeps subnormals, which the
hardware flushes to zero: weights and inputs have none, and sums of such products get none.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from benchmarks.streamhls.models import DepthwiseSeparable, ResidualBlock

F = npt.NDArray[np.float32]


def convolution(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """(C, H, W), with a border of zeros that keeps the size; (O, C, k, k)."""
    edge, (_, height, width) = weight.shape[-1] // 2, x.shape
    padded = nn.functional.pad(x, (edge,) * 4)
    total = torch.zeros(weight.shape[0], height, width)
    for c in range(weight.shape[1]):
        for a in range(weight.shape[2]):
            for b in range(weight.shape[3]):
                seen = padded[c, a : a + height, b : b + width]
                total = total + seen[None] * weight[:, c, a, b, None, None]
    return total


def depthwise(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Each channel on its own: (C, H, W), (C, 1, k, k)."""
    return torch.cat([convolution(x[c : c + 1], weight[c : c + 1]) for c in range(len(x))])


def outputs(module: nn.Module, x: torch.Tensor) -> F:
    """What `module` gives for the batch of one image x: (1, C, H, W)."""
    with torch.no_grad():
        if isinstance(module, ResidualBlock):
            first = torch.relu(convolution(x[0], module.first.weight))
            output = torch.relu(convolution(first, module.second.weight) + x[0])
        elif isinstance(module, DepthwiseSeparable):
            output = convolution(depthwise(x[0], module.depthwise.weight), module.pointwise.weight)
        else:
            raise TypeError(f"no reference for {type(module).__name__}")
        result: F = output[None].numpy()
        return result
