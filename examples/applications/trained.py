"""The applications with trained weights, for many data at once: what ``axiloom validate`` is shown with.

Weights are in ``weights/``; those of mobilenet_v2 and resmlp are large, and made by ``train.py`` (minutes).
"""

from __future__ import annotations

import errno
from pathlib import Path

import data
import efficientnet
import lstm_wlm
import mobilenet_v2
import numpy as np
import resmlp
import resnet20
import torch
from torch import Tensor, nn

FOLDER = Path(__file__).parent / "weights"
IMAGES, SENTENCES = 50, 20
"""Of a call."""

Built = tuple[nn.Module, tuple[Tensor, ...]]


def _trained(network: nn.Module, name: str) -> nn.Module:
    file = FOLDER / f"{name}.npz"
    if not file.is_file():
        how = f"not there: python examples/applications/train.py {name} makes it"
        raise FileNotFoundError(errno.ENOENT, how, str(file))
    with np.load(file) as stored:
        weights = {key: torch.from_numpy(stored[key]) for key in stored.files}
    network.load_state_dict(
        {key: one.float() if one.is_floating_point() else one for key, one in weights.items()}
    )
    return network.eval()


def _images(network: nn.Module, name: str) -> Built:
    return _trained(network, name), (torch.zeros(IMAGES, 3, 32, 32),)


def resnet20_digits() -> Built:
    return _images(resnet20.ResNet20(), "resnet20")


def mobilenet_v2_digits() -> Built:
    return _images(mobilenet_v2.MobileNetV2(), "mobilenet_v2")


def resmlp_digits() -> Built:
    return _images(resmlp.ResMlp(), "resmlp")


def lstm_documentation() -> Built:
    state = torch.zeros(1, SENTENCES, lstm_wlm.WIDTH)
    words = len(data.words()[0])
    with np.load(FOLDER / "lstm_wlm.npz") as stored:
        if len(stored["embedding.weight"]) != words:
            raise ValueError(
                f"weights of other documentation than this Python's, which has {words} words: "
                "python examples/applications/train.py lstm_wlm"
            )
    network = _trained(lstm_wlm.LanguageModel(words), "lstm_wlm")
    return network, (torch.zeros(lstm_wlm.STEPS, SENTENCES, dtype=torch.int64), state, state.clone())


def efficientnet_noise() -> Built:
    """Not trained; the norms have the statistics of an input, else nothing reaches the last layer."""
    network, _ = efficientnet.build()
    images = torch.from_numpy(data.noise()["x"][0])
    for one in network.modules():
        if isinstance(one, nn.BatchNorm2d):
            one.momentum = None
    with torch.no_grad():
        network.train()(images)
    return network.eval(), (images,)
