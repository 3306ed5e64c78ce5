"""Train applications on data that ships with libraries: ``python examples/applications/train.py resnet20``.

Names: resnet20, mobilenet_v2, resmlp (digits as 32x32 images), lstm_wlm (text of Python's documentation).
Weights go to ``weights/NAME.npz`` as float16. One seed; on another machine they may differ in the last bits.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).parent))
import data
import lstm_wlm
import mobilenet_v2
import resmlp
import resnet20

FOLDER = Path(__file__).parent / "weights"
SEED = 0


@dataclass(frozen=True)
class Training:
    """`epochs` of batches of `batch`; the rate falls as a cosine does."""

    make: Callable[[], nn.Module]
    epochs: int
    batch: int
    rate: float
    of: Callable[[nn.Module, Training], None]


def schedule(network: nn.Module, training: Training, batches: int) -> tuple[torch.optim.Optimizer, object]:
    optimiser = torch.optim.AdamW(network.parameters(), lr=training.rate, weight_decay=0.01)
    steps = training.epochs * batches
    return optimiser, torch.optim.lr_scheduler.OneCycleLR(optimiser, training.rate, total_steps=steps)


def _images(network: nn.Module, training: Training) -> None:
    pixels, digits = (torch.from_numpy(one[data.HELD_BACK :]) for one in data.images())
    batches = -(-len(pixels) // training.batch)
    optimiser, rate = schedule(network, training, batches)
    for epoch in range(training.epochs):
        for rows in torch.randperm(len(pixels)).split(training.batch):
            moved = torch.roll(pixels[rows], [int(one) for one in torch.randint(-3, 4, (2,))], (2, 3))
            loss = functional.cross_entropy(network(moved), digits[rows])
            _step(optimiser, rate, network, loss)
        print(f"  epoch {epoch + 1}: loss {loss.item():.3f}", flush=True)


def _sentences(network: nn.Module, training: Training) -> None:
    sentences = torch.from_numpy(data.windows()[0])
    optimiser, rate = schedule(network, training, -(-len(sentences) // training.batch))
    for epoch in range(training.epochs):
        total = 0.0
        for rows in torch.randperm(len(sentences)).split(training.batch):
            text = sentences[rows].T
            state = torch.zeros(1, len(rows), lstm_wlm.WIDTH)
            seen, _ = network.lstm(dropped(network.embedding(text[:-1])), (state, state))
            found = network.decoder(dropped(seen))
            loss = functional.cross_entropy(found.flatten(0, 1), text[1:].flatten())
            _step(optimiser, rate, network, loss)
            total += loss.item() * len(rows)
        print(f"  epoch {epoch + 1}: loss {total / len(sentences):.3f}", flush=True)


def dropped(x: Tensor) -> Tensor:
    return functional.dropout(x, 0.3)


def _step(optimiser: torch.optim.Optimizer, rate: object, network: nn.Module, loss: Tensor) -> None:
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimiser.step()
    rate.step()


TRAININGS = {
    "resnet20": Training(resnet20.ResNet20, 10, 64, 4e-3, _images),
    "mobilenet_v2": Training(mobilenet_v2.MobileNetV2, 6, 64, 2e-3, _images),
    "resmlp": Training(resmlp.ResMlp, 12, 64, 5e-4, _images),
    "lstm_wlm": Training(lambda: lstm_wlm.LanguageModel(len(data.words()[0])), 25, 64, 5e-3, _sentences),
}


def main(names: list[str]) -> None:
    for name in names or list(TRAININGS):
        if name not in TRAININGS:
            sys.exit(f"no training of {name!r}; there are {', '.join(TRAININGS)}")
        training, begun = TRAININGS[name], time.perf_counter()
        torch.manual_seed(SEED)
        network = training.make().train()
        training.of(network, training)
        kept = {key: value.numpy() for key, value in network.state_dict().items()}
        halves = {
            key: value.astype(np.float16) if value.dtype == np.float32 else value
            for key, value in kept.items()
        }
        FOLDER.mkdir(exist_ok=True)
        np.savez_compressed(FOLDER / f"{name}.npz", **halves)
        size = (FOLDER / f"{name}.npz").stat().st_size
        print(f"{name}: {time.perf_counter() - begun:.0f} s, {size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
