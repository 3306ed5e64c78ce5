"""What ``axiloom explore`` prints and writes of the drivers it found."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from typing import Any

from axiloom.explore.explore import Exploration, Row
from axiloom.isa import AcceleratorSpec


def _cells(row: Row, own_rtl: bool) -> dict[str, Any]:
    """`own_rtl`: the model's times, which are those of generated RTL, are left out."""
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


def _rtl(exploration: Exploration) -> str:
    return exploration.user_rtl.top if exploration.user_rtl else "generated"


def as_json(exploration: Exploration) -> dict[str, Any]:
    return {
        "problem": exploration.problem,
        "accelerator": exploration.spec.name,
        "dma": "sg" if exploration.spec.dma.scatter_gather else "simple",
        "stream_width": exploration.spec.stream_width,
        "macs": exploration.spec.macs,
        "rtl": _rtl(exploration),
        "board": exploration.board,
        "candidates": exploration.candidates,
        "model_seconds": round(exploration.seconds, 3),
        "chosen": _cells(exploration.chosen, exploration.user_rtl is not None),
        "rows": [_cells(row, exploration.user_rtl is not None) for row in exploration.rows],
    }


def as_csv(explorations: Sequence[Exploration]) -> str:
    text = io.StringIO()
    writer: csv.DictWriter[str] | None = None
    for exploration in explorations:
        for row in exploration.rows:
            cells = {
                "problem": exploration.problem,
                "rtl": _rtl(exploration),
                "chosen": int(row is exploration.chosen),
                **_cells(row, exploration.user_rtl is not None),
            }
            cells["names"] = "; ".join(row.names)
            if writer is None:
                writer = csv.DictWriter(text, list(cells), lineterminator="\n")
                writer.writeheader()
            writer.writerow(cells)
    return text.getvalue()


def table(exploration: Exploration) -> str:
    """The rows as people read them; the chosen one has a star."""
    own_rtl = exploration.user_rtl is not None
    counted = all(row.choice.words is not None for row in exploration.rows)
    head = ["", "flow", "loops", "tile", "pipeline", *(() if own_rtl else ("predicted",))]
    head += ["words", *(() if own_rtl else ("limit",))] if counted else []
    simulated = any(row.simulated is not None or row.error for row in exploration.rows)
    if simulated:
        head += ["simulated", *(() if own_rtl else ("model",)), "limit"]
    lines = [[*head, ""]]
    for row in exploration.rows:
        cells = _cells(row, own_rtl)
        line = ["*" if row is exploration.chosen else "", *(cells[name] for name in head[1:5])]
        line += [] if own_rtl else [f"{cells['predicted_ms']:.3f} ms"]
        if counted:
            line += [f"{cells['words']:,}", *(() if own_rtl else (f"{cells['limit_ratio']:.2f}x",))]
        if simulated and row.simulated is not None:
            line += [f"{cells['simulated_ms']:.3f} ms"]
            error = cells["error_percent"]
            line += [] if own_rtl else ["" if error is None else f"{error:+.1f} %"]
            line += [f"{row.simulated_ratio or 0:.2f}x"]
        elif simulated:
            line += ["failed" if row.error else "", *([] if own_rtl else [""]), ""]
        lines.append([*line, row.error or ", ".join(row.names)])
    text = _aligned(lines, left={0, 1, 2, 3, 4, len(lines[0]) - 1})
    how = f"{exploration.candidates:,} candidates in {exploration.seconds:.2f} s"
    if own_rtl:
        how += f", in the order of the model of generated RTL; simulated with RTL {_rtl(exploration)}"
    return "\n".join(
        [f"{exploration.problem} on {_hardware(exploration.spec)}, {exploration.board}: {how}", *text]
    )


def _hardware(spec: AcceleratorSpec) -> str:
    dma = "sg" if spec.dma.scatter_gather else "simple"
    return f"{spec.name} (DMA {dma}, stream {spec.stream_width} bits, {spec.macs} multiply-adds)"


def _aligned(lines: Sequence[Sequence[str]], left: Collection[int]) -> list[str]:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return [
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
