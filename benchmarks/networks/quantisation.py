"""What quantisation costs the example networks, by the integer graph in NumPy; needs the extra [networks].

Digits: right answers on 200 images that were held back, float against integers. TinyBERT: cosine of the
logits and agreement of the most likely word over 100 random inputs. ResNet18: the same over 10 random
images, and how long the integer graph takes for one.
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from axiloom.quantise.network import Quantised, quantise
from axiloom.quantise.report import compare

NETWORKS = Path(__file__).parents[2] / "examples" / "networks"
INPUTS = 100
"""Random inputs of TinyBERT, two sequences of 128 words each."""


def example(name: str) -> Any:
    """A module of examples/networks."""
    if str(NETWORKS) not in sys.path:
        sys.path.insert(0, str(NETWORKS))
    return importlib.import_module(name)


def both(network: Any, quantised: Quantised, sample: tuple[Any, ...]) -> tuple[Any, Any, float]:
    """What floats and integers give for `sample`, and what one step of the integers is worth."""
    with torch.no_grad():
        real = network(*sample).numpy()
    (integers,) = quantised.run(quantised.inputs(sample)).values()
    scale = quantised.scale(quantised.graph.results[0])
    assert scale is not None
    return real, integers, scale


def digits() -> None:
    for name in ("digits_mlp", "digits_cnn"):
        module = example(name)
        network, examples = module.build()
        quantised = quantise(network, examples, module.calibration(), name=name)
        images, labels = module.held_back()
        right = np.zeros(2, int)
        agree = 0
        for image, label in zip(images, labels, strict=True):
            real, integers, _ = both(network, quantised, (image[None],))
            right += [real.argmax() == int(label), integers.argmax() == int(label)]
            agree += int(real.argmax() == integers.argmax())
        print(
            f"{name}: {len(labels)} images held back: float {right[0]} right ({right[0] / len(labels):.1%}), "
            f"int8 {right[1]} right ({right[1] / len(labels):.1%}), {agree} answers alike"
        )


def tinybert(inputs: int = INPUTS) -> None:
    module = example("tinybert")
    network, examples = module.build()
    quantised = quantise(network, examples, module.calibration(), name="tinybert")
    generator = torch.Generator().manual_seed(5)
    cosines, masked, everywhere, within = [], [], [], []
    for _ in range(inputs):
        words = module.masked(generator)
        real, integers, scale = both(network, quantised, (words,))
        cosines.append(compare(integers, scale, real)[0])
        alike = real.argmax(-1) == integers.argmax(-1)
        hidden = (words == module.MASK).numpy()
        everywhere.extend(alike.ravel())
        masked.extend(alike[hidden])
        best = np.argpartition(integers[hidden], -5, -1)[:, -5:]
        within.extend((best == real[hidden].argmax(-1)[:, None]).any(-1))
    print(
        f"tinybert: {inputs} random inputs: cosine of the logits {np.mean(cosines):.5f} "
        f"(lowest {min(cosines):.5f}); most likely word alike at {np.mean(everywhere):.1%} of "
        f"{len(everywhere):,} places; of {len(masked):,} masked ones at {np.mean(masked):.1%}, "
        f"among int8's first five at {np.mean(within):.1%}"
    )


def resnet18(images: int = 10) -> None:
    network, examples = example("resnet18").build()
    quantised = quantise(network, examples, "4-random", name="resnet18")
    generator = torch.Generator().manual_seed(6)
    cosines, alike = [], 0
    for _ in range(images):
        image = torch.randn(examples[0].shape, generator=generator)
        real, integers, scale = both(network, quantised, (image,))
        cosines.append(compare(integers, scale, real)[0])
        alike += int(real.argmax() == integers.argmax())
    start = time.perf_counter()
    quantised.run(quantised.inputs(examples))
    seconds = time.perf_counter() - start
    print(
        f"resnet18: {images} random images: cosine of the logits {np.mean(cosines):.5f} (lowest "
        f"{min(cosines):.5f}), most likely of 1,000 classes alike for {alike}; "
        f"the integer graph in NumPy takes {seconds:.1f} s for one"
    )


def main() -> None:
    digits()
    tinybert()
    resnet18()
