"""Proofs, verdict by verdict."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from axiloom.base.errors import UsageError
from axiloom.isa import AcceleratorSpec
from axiloom.library.accelerators import Device, TextDevice
from axiloom.library.devices import device
from axiloom.prove import solvers
from axiloom.prove.verdict import Verdict

LIMIT_S = 60
"""Seconds for a claim."""
VERILOG = (".v", ".sv")


def prove(
    what: Device | AcceleratorSpec | str | Path | Sequence[str | Path],
    *,
    top: str | None = None,
    limit_s: int = LIMIT_S,
    live: bool = False,
) -> Iterator[Verdict]:
    """Verdicts as they are found, each with its bound: ``print(verdict)`` is a line.

    A device, or its specification, is proved as an instruction set (``mine.json``, ``rows32.isa``): decode is
    disjoint and complete, invariants hold, every instruction ends; its `rtl` keeps the rules of AXI, too.
    Verilog (a file, or several with the module `top`) keeps the rules of AXI on its ports; `live`: all that
    is accepted is answered, too. `limit_s` seconds a claim. Raises SpecError where there is no formal model,
    BuildError where a solver is missing.
    """
    if not isinstance(what, (Device, AcceleratorSpec)):
        files = [Path(file) for file in ([what] if isinstance(what, (str, Path)) else what)]
        if all(file.suffix in VERILOG for file in files):
            return _of_ports(files, top, limit_s, live)
        if len(files) != 1:
            raise UsageError(f"ax.prove: several files are Verilog, {' or '.join(VERILOG)}")
        what = device(files[0])
    if top is not None or live:
        raise UsageError("ax.prove: `top` and `live` are about Verilog")
    if isinstance(what, AcceleratorSpec):
        return _of_spec(what, limit_s)
    if isinstance(what, TextDevice):
        return _of_text(what, limit_s)
    if not what.asked.is_verilog:
        return _of_spec(what.spec, limit_s)
    ports = _of_ports(what.asked.rtl, what.asked.top, limit_s, live=False)
    return chain(_of_spec(what.spec, limit_s), ports)


def _of_spec(spec: AcceleratorSpec, limit_s: int) -> Iterator[Verdict]:
    solvers.check()
    from axiloom.prove import spec as specs

    return _arriving(lambda say: specs.prove(spec, limit_s, lambda verdict, _total: say(verdict)))


def _of_text(device: TextDevice, limit_s: int) -> Iterator[Verdict]:
    solvers.check()
    from axiloom.prove import instructions

    return _arriving(
        lambda say: instructions.prove(device.instructions, limit_s, lambda verdict, _total: say(verdict))
    )


def _of_ports(files: Sequence[Path], top: str | None, limit_s: int, live: bool) -> Iterator[Verdict]:
    from axiloom.prove import abc
    from axiloom.prove.axi import user

    name = top or files[0].stem
    module = user.read(files, name)
    bench = user.bench(module, live=live)
    verdicts = abc.prove(name, bench, sources=module.sources, limit_s=limit_s)
    return (verdict for verdict, _ in verdicts)


def _arriving(work: Callable[[Callable[[Verdict], None]], Sequence[Verdict]]) -> Iterator[Verdict]:
    """What `work` says, as it says it; then what it raises."""
    said: queue.Queue[Verdict | BaseException | None] = queue.Queue()

    def runs() -> None:
        try:
            verdicts = work(said.put)
            if verdicts and verdicts[0].cached:  # nothing was said of what is known
                for verdict in verdicts:
                    said.put(verdict)
            said.put(None)
        except BaseException as error:
            said.put(error)

    threading.Thread(target=runs, daemon=True).start()
    while (item := said.get()) is not None:
        if isinstance(item, BaseException):
            raise item
        yield item
