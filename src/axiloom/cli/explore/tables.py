"""What ``axiloom explore`` prints and writes of the drivers it found."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence

from axiloom.explore.driver_report import cells_of, rtl_of
from axiloom.explore.explore import Exploration
from axiloom.isa import AcceleratorSpec


def as_csv(explorations: Sequence[Exploration]) -> str:
    text = io.StringIO()
    writer: csv.DictWriter[str] | None = None
    for exploration in explorations:
        for row in exploration.rows:
            cells = {
                "problem": exploration.problem,
                "rtl": rtl_of(exploration),
                "chosen": int(row is exploration.chosen),
                **cells_of(row, exploration.user_rtl is not None),
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
        cells = cells_of(row, own_rtl)
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
        how += f", in the order of the model of generated RTL; simulated with RTL {rtl_of(exploration)}"
    return "\n".join(
        [f"{exploration.problem} on {_hardware(exploration.spec)}, {exploration.board}: {how}", *text]
    )


def _hardware(spec: AcceleratorSpec) -> str:
    dma = "sg" if spec.link.dma.scatter_gather else "simple"
    return f"{spec.name} (DMA {dma}, stream {spec.link.stream_width} bits, {spec.macs} multiply-adds)"


def _aligned(lines: Sequence[Sequence[str]], left: Collection[int]) -> list[str]:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return [
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
