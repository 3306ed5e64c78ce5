"""Data that ships with libraries: digits as 32x32 images (scikit-learn), and text of Python's documentation.

`digits` and `sentences` are what ``axiloom validate --data`` takes: what no training has seen.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pydoc_data.topics import topics
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

HELD_BACK = 400
"""Images that no training sees."""
STEPS, EVERY, SEEN_TWICE = 35, 10, 2
"""Words of a sentence; of ten sentences one is held back; words that occur once are one word."""
UNKNOWN = "<unknown>"


@cache
def images() -> tuple[Array, Array]:
    """All images (1797, 3, 32, 32), from -1 (paper) to 1 (ink), and their digits, in a random order.

    An image of 8x8 is made larger in straight lines between its pixels; the colours are alike.
    """
    from sklearn.datasets import load_digits  # here: text needs no scikit-learn

    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.images))
    places = np.clip((np.arange(32) + 0.5) / 4 - 0.5, 0, 7)
    low = np.minimum(places.astype(int), 6)
    lines = np.zeros((32, 8), np.float32)  # of each row of 32 the shares of the 8
    lines[np.arange(32), low], lines[np.arange(32), low + 1] = 1 - (places - low), places - low
    larger = lines @ (data.images[order].astype(np.float32) / 8 - 1) @ lines.T
    return np.repeat(larger[:, None], 3, axis=1), data.target[order].astype(np.int64)


def digits() -> dict[str, Array]:
    """400 images and their digits."""
    pixels, target = images()
    return {"x": pixels[:HELD_BACK], "labels": target[:HELD_BACK]}


@cache
def words() -> tuple[list[str], Array]:
    """The words that occur twice or more, and the text as their numbers; 0 is every other word."""
    text = "\n".join(topics[name] for name in sorted(topics)).lower()
    found = re.findall(r"[a-z]+|[0-9]+|[^\sa-z0-9]", text)
    counts = Counter(found)
    known = [UNKNOWN, *sorted(word for word, count in counts.items() if count >= SEEN_TWICE)]
    number = {word: i for i, word in enumerate(known)}
    return known, np.array([number.get(word, 0) for word in found])


@cache
def windows() -> tuple[Array, Array]:
    """Sentences of 36 words, one overlapping: (n, 36) that are trained on, (m, 36) that are held back."""
    _, text = words()
    count = (len(text) - 1) // STEPS
    all_of_them = np.stack([text[i * STEPS : (i + 1) * STEPS + 1] for i in range(count)])
    back = np.arange(count) % EVERY == EVERY - 1
    return all_of_them[~back], all_of_them[back]


def sentences() -> dict[str, Array]:
    """100 sentences of 35 words, 20 at a time, states of zeros before them, and each next word."""
    found = windows()[1][:100].reshape(5, 20, STEPS + 1).transpose(0, 2, 1)
    state = np.zeros((5, 1, 20, 128), np.float32)
    return {"words": found[:, :-1], "hidden": state, "cell": state, "labels": found[:, 1:]}


def two_sequences() -> dict[str, Array]:
    """What the Transformer takes, as random as its weights."""
    rng = np.random.default_rng(0)
    source, target = (rng.standard_normal((2, tokens, 32, 256), np.float32) for tokens in (10, 20))
    return {"source": source, "target": target}


def digits_seen() -> dict[str, Array]:
    """100 images of the training, to calibrate with."""
    pixels, target = images()
    return {"x": pixels[HELD_BACK : HELD_BACK + 100], "labels": target[HELD_BACK : HELD_BACK + 100]}


def sentences_seen() -> dict[str, Array]:
    """40 sentences of the training, to calibrate with."""
    found = windows()[0][:40].reshape(2, 20, STEPS + 1).transpose(0, 2, 1)
    state = np.zeros((2, 1, 20, 128), np.float32)
    return {"words": found[:, :-1], "hidden": state, "cell": state, "labels": found[:, 1:]}


def noise() -> dict[str, Array]:
    """Two images of EfficientNet's size."""
    return {"x": np.random.default_rng(0).standard_normal((2, 1, 3, 224, 224), np.float32)}
