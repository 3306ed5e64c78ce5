"""Random small ONNX models against ONNX Runtime; needs the extra [networks].

Every op that `axiloom quantize` reads, with its attributes, in opsets 9 to 21: what it and `axiloom run` make
of each model, in one process. `MODELS`, `SEED` and `FIRST` of the environment say how many, and which:
parts of a thousand can be tried one after the other.
"""

from __future__ import annotations

import logging
import os
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.read import random_onnx, referee_onnx

BAD = ("wrong", "crash")


def main() -> None:
    logging.disable(logging.WARNING)
    count, seed = int(os.environ.get("MODELS", "1000")), int(os.environ.get("SEED", "0"))
    ways = {"quantize": referee_onnx.quantised, "run": referee_onnx.imported}
    words: dict[str, Counter[str]] = {way: Counter() for way in ways}
    tried, first, begun = 0, int(os.environ.get("FIRST", "0")), time.process_time()
    number = first
    with tempfile.TemporaryDirectory(prefix="axiloom-") as folder:
        path = Path(folder) / "net.onnx"
        while tried < count:
            kind, proto = random_onnx.model(number, seed)
            number += 1
            if not referee_onnx.save(proto, path):
                continue
            tried += 1
            for way, judge in ways.items():
                verdict = judge(path)
                words[way][verdict.word] += 1
                if verdict.word != "right":
                    opset = proto.opset_import[0].version
                    why = " ".join(verdict.why.replace(str(path), "net.onnx").split())[:200]
                    print(
                        f"{way:8} {verdict.word:8} {number - 1:5} {kind} (opset {opset}): {why}", flush=True
                    )
    for way, counter in words.items():
        print(f"{way}: " + ", ".join(f"{n} {word}" for word, n in counter.most_common()))
    seconds = time.process_time() - begun
    print(f"{tried} models of seed {seed} from number {first} to {number - 1} in {seconds:.0f} CPU s")
    if any(counter[word] for counter in words.values() for word in BAD):
        raise SystemExit("wrong without a word, or a crash")
