"""The experiments behind ``python -m benchmarks.paper``, one a file: the published figures anew, and what
we claim.

`sides` says what can be compared (generated drivers, drivers by hand, the CPU alone) and runs it, checked
against NumPy; `experiment` is what an experiment consists of; `runner` runs one and writes CSV, table, plot
and conclusion; `plots` is how plots look; `document` puts them into a Markdown file. Each other module holds
one `EXPERIMENT`.
"""

from __future__ import annotations

import importlib

from benchmarks.paper.experiment import Experiment

NAMES = (
    "fig10",
    "fig11",
    "fig12",
    "fig13",
    "fig14",
    "fig16",
    "fig17",
    "ablation",
    "against-hand",
    "crossover",
    "limit",
)
"""In the order in which ``python -m benchmarks.paper all`` runs them."""


def find(name: str) -> Experiment:
    """The experiment called `name`, one of `NAMES`."""
    module = importlib.import_module(f"benchmarks.paper.{name.replace('-', '_')}")
    experiment: Experiment = module.EXPERIMENT
    return experiment
