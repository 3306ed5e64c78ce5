"""What was found by :mod:`axiloom.explore.explore`, as JSON."""

from __future__ import annotations

from typing import Any

from axiloom.explore.explore import Exploration, Row


def cells_of(row: Row, own_rtl: bool) -> dict[str, Any]:
    """One row. `own_rtl`: the model's times, which are those of generated RTL, are left out."""
    choice, candidate = row.choice, row.choice.candidate
    return {
        "flow": candidate.flow,
        "loops": ",".join(candidate.order),
        "tile": "x".join(map(str, candidate.tile)),
        "pipeline": choice.pipeline,
        "predicted_ms": None if own_rtl else round(choice.seconds * 1e3, 4),
        "words": choice.words,
        "limit_ratio": None if own_rtl or choice.limit_ratio is None else round(choice.limit_ratio, 3),
        "simulated_ms": None if row.simulated is None else round(row.simulated * 1e3, 4),
        "error_percent": (
            None if row.foretold is None or own_rtl else round(100 * (choice.seconds / row.foretold - 1), 2)
        ),
        "simulated_limit_ratio": row.simulated_ratio,
        "names": list(row.names),
        "error": row.error,
    }


def rtl_of(exploration: Exploration) -> str:
    """What was simulated in the accelerator's place, in a word."""
    return exploration.user_rtl.top if exploration.user_rtl else "generated"


def as_json(exploration: Exploration) -> dict[str, Any]:
    """All of it, for programs and for the page."""
    return {
        "problem": exploration.problem,
        "accelerator": exploration.spec.name,
        "dma": "sg" if exploration.spec.link.dma.scatter_gather else "simple",
        "stream_width": exploration.spec.link.stream_width,
        "macs": exploration.spec.macs,
        "rtl": rtl_of(exploration),
        "board": exploration.board,
        "candidates": exploration.candidates,
        "model_seconds": round(exploration.seconds, 3),
        "chosen": cells_of(exploration.chosen, exploration.user_rtl is not None),
        "rows": [cells_of(row, exploration.user_rtl is not None) for row in exploration.rows],
    }
