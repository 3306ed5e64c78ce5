"""Small tasks on data that ships with libraries, and the training of a network on one of them.

Digits (scikit-learn: 1,797 images of 8x8 in 17 shades) as images, as rows, as signals, and from a code of 16
numbers; text of Python's documentation (`pydoc_data.topics`) by characters. `HELD_BACK` samples of each are
never trained on. All is seeded and on one thread: the same weights on every run of one machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pydoc_data.topics import topics

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn import functional

HELD_BACK = 320
SYMBOLS = "abcdefghijklmnopqrstuvwxyz .,()'\"_-=:"
WINDOW = 16
"""Characters of a sample of text."""
WINDOWS = 4000

Loss = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Task:
    """Samples with what is to be learned of each, how wrong an answer is, and which answers are right."""

    inputs: Tensor
    targets: Tensor
    loss: Loss
    right: Callable[[np.ndarray, np.ndarray], np.ndarray]
    """Answers (samples, ...) and targets: one truth value a decision."""

    @property
    def held_back(self) -> tuple[Tensor, Tensor]:
        return self.inputs[-HELD_BACK:], self.targets[-HELD_BACK:]


def classified(answers: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Scores along the last dim: is the largest one that of the target?"""
    return np.asarray(answers.argmax(-1) == targets)


def cross_entropy(scores: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(scores.flatten(0, -2), targets.flatten())


def digits() -> tuple[Tensor, Tensor]:
    """Images (1797, 8, 8) from 0 to 1, and their digits, in a seeded order."""
    data = load_digits()
    order = np.random.default_rng(1).permutation(len(data.target))
    return (
        torch.from_numpy(data.images[order] / 16).float(),
        torch.from_numpy(data.target[order].astype(np.int64)),
    )


def images() -> Task:
    """(1, 16, 16): each pixel four times."""
    pixels, labels = digits()
    large = pixels.repeat_interleave(2, 1).repeat_interleave(2, 2)
    return Task(large[:, None], labels, cross_entropy, classified)


def rows() -> Task:
    """A sequence of 8 rows, or 8 signals, of 8 pixels."""
    return Task(*digits(), cross_entropy, classified)


def codes() -> Task:
    """An image from its 16 principal components, as (16, 1, 1).

    An answer is right if the mean image that is nearest to it is that of the digit.
    """
    pixels, labels = digits()
    flat = pixels.flatten(1).double()
    _, _, directions = torch.linalg.svd(flat[:-HELD_BACK] - flat[:-HELD_BACK].mean(0), full_matrices=False)
    code = ((flat - flat[:-HELD_BACK].mean(0)) @ directions[:16].T).float()
    seen, known = pixels[:-HELD_BACK], labels[:-HELD_BACK]
    means = np.stack([seen[known == digit].mean(0).numpy().ravel() for digit in range(10)])

    def nearest(answers: np.ndarray, targets: np.ndarray) -> np.ndarray:
        def digit(of: np.ndarray) -> np.ndarray:
            away = of.reshape(len(of), 1, -1) - means
            return np.asarray((away**2).sum(-1).argmin(-1))

        return np.asarray(digit(answers) == digit(targets))

    return Task(code[:, :, None, None], pixels[:, None], functional.mse_loss, nearest)


def text(last: bool) -> Task:
    """16 characters, one of `SYMBOLS` each, as ones and zeros; the next one of each, or of the last alone."""
    kept = [
        SYMBOLS.find(character) for character in " ".join(topics[name] for name in sorted(topics)).lower()
    ]
    known = torch.tensor([index for index in kept if index >= 0])
    starts = np.random.default_rng(1).choice(len(known) - WINDOW - 1, WINDOWS, replace=False)
    windows = torch.stack([known[start : start + WINDOW + 1] for start in starts])
    inputs = functional.one_hot(windows[:, :-1], len(SYMBOLS)).float()
    return Task(inputs, windows[:, -1] if last else windows[:, 1:], cross_entropy, classified)


def train(network: nn.Module, task: Task, epochs: int, rate: float = 3e-3) -> None:
    """Adam with batches of 64, its rate falling to zero; leaves the network in evaluation mode."""
    count = len(task.inputs) - HELD_BACK
    optimiser = torch.optim.Adam(network.parameters(), rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs * (-(-count // 64)))
    for _ in range(epochs):
        for batch in torch.randperm(count).split(64):
            loss = task.loss(network(task.inputs[batch]), task.targets[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    network.eval()
