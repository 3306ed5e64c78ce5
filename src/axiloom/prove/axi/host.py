"""What a host's writes have to do with a broken rule: registers that a module uses while it runs.

A host may write any register in any cycle, if nothing else is said of it. Where a rule of another port is
broken after such a write, a condition is tried: no write while an address or data wait to be taken. With it
the rule is asked again, so that it is only named where it helps.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from axiloom.prove import abc
from axiloom.prove.axi import assumed, user
from axiloom.prove.bench import Property

FILE = "host.txt"


def writes(module: user.User, prop: Property, outcome: abc.Outcome) -> tuple[str, int, str] | None:
    """The port and the cycle of the last write of a register before the rule of another port is broken, and
    the condition that there is none meanwhile; None if there is no such write."""
    ports = {port.name: port for port in module.module.axi}
    channel = prop.name.partition("_")[0]
    own = ports[prop.port].signals if prop.port in ports else {}
    if prop.port in module.registers or f"{channel}valid" not in own or prop.live:
        return None
    for cycle in range(len(outcome.stimulus) - 1, -1, -1):
        for name in module.registers:
            signals = ports[name].signals
            if outcome.stimulus[cycle].get(signals["wvalid"].name):
                write = f"{signals['wvalid'].name} && {signals['wready'].name}"
                return name, cycle, f"!({own[f'{channel}valid'].name} && {write})"
    return None


def advice(
    module: user.User,
    prop: Property,
    outcome: abc.Outcome,
    folder: Path,
    *,
    outstanding: int,
    within: int,
    limit_s: int,
) -> str:
    """A line about such a write, with a file of conditions in `folder` if the rule holds with it, or none."""
    if (write := writes(module, prop, outcome)) is None:
        return ""
    port, cycle, condition = write
    said = f"the host writes a register on {port} in cycle {cycle}"
    file = folder / FILE
    file.write_text(f"{condition}  // a driver writes no register of a module that runs\n", encoding="utf-8")
    looks = assumed.read(file, module.module, "--assume", len(module.assumed))
    calm = replace(module, assumed=(*module.assumed, looks))
    bench = user.bench(calm, outstanding, within)
    bench.alone(prop.port, prop.name)
    ((verdict, _),) = abc.prove(module.module.name, bench, sources=calm.sources, limit_s=limit_s)
    if verdict.unbounded:
        return f"{said}; if no driver does so while the module runs: --assume {file}, with which it holds"
    file.unlink()
    return f"{said}: --assume FILE can say which values no driver writes"
