"""Nothing changed: the same cycles and counters, the same C, the same Verilog, before and after modules move.

``python -m benchmarks unchanged --write before.json`` at one revision, then at another
``python -m benchmarks unchanged --against before.json``: it names each difference, and exits with 1 if there
is any. Everything goes through the command line of ``python -m axiloom`` in the tree that this file lies in,
so the file works at any revision that has these options.

- runs: of each the whole JSON report, without wall times and versions. All results are equal to NumPy's, from
  one seed, which says what a hash of the outputs would.
- drivers: SHA-256 of the C, with the banner's version and hash, and of two stages on the way to it; of a
  network, of each file of C that `run --keep` keeps, and of the map of its memory.
- verilog: SHA-256 of what ``axiloom verilog`` prints, with the banner too.

An item is named by its command, and found in both files by that name.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
NOT_COMPARED = ("simulation", "versions")
"""Parts of a report: wall times, and the versions of tools."""
NETWORKS = "tests/fixtures/quantised"

RUNS = (
    "matmul:20x12x36 --accel v1 --size 4 --pipeline published",
    "matmul:24x20x32:int16 --accel v2 --size 8 --encoding literals --stream-width 64 --flow As",
    "matmul:24x20x32:int16 --accel v2 --size 8 --encoding literals --stream-width 64 --flow Bs --wait irq",
    "matmul:20x20x20 --accel v3 --size 4 --flow Cs --against cpu",
    "matmul:20x20x20 --accel v3 --size 4 --flow Ns --pipeline coalesced --sim icarus",
    "matmul:40x33x50:int8 --accel v3 --dma sg --stream-width 128 --flow As --against neon",
    "matmul:40x33x50:int8 --accel v3 --dma sg --stream-width 128 --flow Cs --os linux --board pynq-z2-linux",
    "matmul:48x40x72:int8 --accel v4 --flow best",
    "matmul:48x40x72:int8 --accel v4 --flow Bs --tile 16,16,32 --pipeline copying",
    "matmul:70x64x80 --accel v4 --dma sg --stream-width 64 --flow Cs --pipeline all",
    "matmul:70x64x80 --accel v4 --dma sg --stream-width 64 --flow As --order k,m,n --board zcu104",
    "conv:7x6,8,3x3,4 --accel conv_v3",
    "conv:9x9,4,3x3,6,stride=2,pad=1:int8 --accel conv_v3 --dma sg --stream-width 64",
    "conv:10x9,8,3x3,12,pad=1 --accel conv_v4 --flow Os",
    "conv:13x13,6,3x3,10,stride=2,dilation=2:int8 --accel conv_v4 --dma sg --stream-width 128 --flow Fs",
    "copy:1000 --accel loopback",
    "copy:1000 --accel identity --dma sg --stream-width 128",
    "copy:500 --accel identity --stream-width 64 --wait irq",
    f"{NETWORKS}/digits_mlp.mlir --accel v4 --post --dma sg --stream-width 64 --offload all --against cpu",
    f"{NETWORKS}/digits_cnn.mlir --accel conv_v4,v4 --stream-width 64",
)
DRIVERS = (
    "matmul:64x64x64 --accel v1 --size 8 --pipeline published",
    "matmul:64x48x80:int16 --accel v2 --flow Bs --encoding literals",
    "matmul:64x48x80 --accel v3 --flow As --pipeline coalesced --stream-width 64",
    "matmul:50x33x70:int8 --accel v3 --flow Cs --dma sg",
    "matmul:128x96x160:int8 --accel v4 --flow best",
    "matmul:128x96x160:int16 --accel v4 --flow best --dma sg --stream-width 128",
    "matmul:128x96x160 --accel v4 --flow Ns --order n,k,m --tile 32,16,48 --pipeline copying",
    "conv:58_64_3_64_1:int8 --accel conv_v3",
    "conv:56x56,64,3x3,64,pad=1:int8 --accel conv_v4 --dma sg --stream-width 64",
    "conv:28x28,16,5x3,24,stride=2x1,dilation=1x2:int16 --accel conv_v4 --flow Is --encoding literals",
    "conv:14x14,256,1x1,512,stride=2 --accel conv_v4 --flow Fs --pipeline copying",
    "copy:5000 --accel identity --dma sg",
    "matmul:64x48x80:int8 --accel v4 --dma sg --emit calls",
    "conv:28x28,16,3x3,24,pad=1:int8 --accel conv_v4 --emit linalg",
)
VERILOG = (
    "--accel v1 --size 4",
    "--accel v2 --size 8 --data-type int16 --encoding literals --stream-width 64",
    "--accel v3 --data-type int8 --dma sg --stream-width 128",
    "--accel v3 --size 4 --post --part accelerator",
    "--accel v4 --macs 256 --data-type int8 --part accelerator",
    "--accel v4 --dma sg --stream-width 64",
    "--accel conv_v3 --dma sg",
    "--accel conv_v4 --post --data-type int8 --stream-width 64",
    "--accel conv_v4,v4 --dma sg --stream-width 128 --data-type int8",
    "--accel loopback",
    "--accel identity --part accelerator",
)

SECTIONS = {"runs": RUNS, "drivers": DRIVERS, "verilog": VERILOG}

Facts = dict[str, Any]
"""Of one item: each figure or hash by its name."""
Found = dict[str, dict[str, Facts]]
"""Facts by section and by the item's command."""


def axiloom(*words: str) -> bytes:
    """What this tree's ``axiloom`` prints. RuntimeError with the last line of its complaint, if it fails."""
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "axiloom", *words],
        cwd=ROOT,  # reports name a network's file as it was given: from here, in every clone
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines() or ["nothing"]
        raise RuntimeError(f"exit code {done.returncode}, it says: {said[-1]}")
    return done.stdout


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Each number and text of a report, named ``fabric.cycles`` or ``losses[2].cycles``."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{name}[{number}]")
    else:
        yield name, value


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def run(command: str) -> tuple[Facts, Facts]:
    """Figures of a run, and the hashes of the C that is kept of a network."""
    words = command.split()
    with tempfile.TemporaryDirectory(prefix="axiloom-unchanged-") as folder:
        file, kept = Path(folder) / "report.json", Path(folder) / "kept"
        axiloom("run", *words, "--json", str(file), "--keep", str(kept))
        report = json.loads(file.read_text(encoding="utf-8"))
        sources = sorted((*kept.glob("*.[ch]"), kept / "memory.txt")) if is_network(command) else []
        hashes = {source.name: digest(source.read_bytes()) for source in sources}
    if not report["result"]["matches"]:
        raise RuntimeError(f"the result is wrong: {report['result']['first']}")
    return dict(leaves({key: part for key, part in report.items() if key not in NOT_COMPARED})), hashes


def is_network(command: str) -> bool:
    return command.startswith(NETWORKS)


def item(work: tuple[str, str]) -> Found:
    """The facts of one item, also of the second section that a network's run has a part in."""
    section, command = work
    if section == "runs":
        figures, sources = run(command)
        return {section: {command: figures}} | ({"drivers": {command: sources}} if sources else {})
    words = ("compile" if section == "drivers" else "verilog", *command.split())
    return {section: {command: {"sha256": digest(axiloom(*words))}}}


def brief(measured: Found) -> str:
    """An item's facts in a table."""
    ((section, facts), *_) = (
        (section, facts) for section, by_name in measured.items() for facts in by_name.values()
    )
    if section != "runs":
        return f"{facts['sha256'][:16]}"
    cycles, time_ = facts["fabric.cycles"], facts["counters.cpu-cycles"]
    return f"{cycles:>10,} fabric {time_:>10,} CPU cycles, {len(facts)} figures, right"


def timed(work: tuple[str, str]) -> tuple[Found, str, float]:
    """An item's facts, or nothing and what went wrong; with its wall time."""
    begun = time.perf_counter()
    try:
        return item(work), "", time.perf_counter() - begun
    except RuntimeError as fault:
        return {}, str(fault), time.perf_counter() - begun


def measure(sections: Sequence[str]) -> tuple[Found, int]:
    """All facts of some sections, printed as they come, and how many items failed."""
    works = [(section, name) for section in sections for name in SECTIONS[section]]
    every: Found = {"runs": {}, "drivers": {}, "verilog": {}}
    failed, last = 0, ""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (section, command), (facts, fault, seconds) in zip(works, pool.map(timed, works), strict=True):
            if section != last:
                print(f"{section}:")
                last = section
            print(f"  {seconds:5.1f} s  {command}", flush=True)
            print(f"           {'FAILED: ' + fault if fault else brief(facts)}", flush=True)
            failed += bool(fault)
            for name, fact in facts.items():
                every[name] |= fact
    return every, failed


def differences(before: Found, after: Found) -> Iterator[str]:
    """A line for each figure, hash or item that is not the same."""
    for section in before | after:
        old, new = before.get(section, {}), after.get(section, {})
        for command in old | new:
            if command not in old or command not in new:
                yield f"{section}: {command}: only {'after' if command in new else 'before'}"
                continue
            for name in old[command] | new[command]:
                values = [side[command].get(name, "absent") for side in (old, new)]
                if values[0] != values[1]:
                    yield f"{section}: {command}: {name}: {values[0]} before, {values[1]} after"


def read(file: Path) -> Found:
    """What `--write` wrote; ends the program with a line if it is not that."""
    try:
        facts: Found = json.loads(file.read_text(encoding="utf-8"))
        sound = set(facts) == set(SECTIONS)
    except (OSError, ValueError, TypeError) as fault:
        sys.exit(f"--against {file}: cannot be read: {fault}")
    if not sound:
        sys.exit(f"--against {file}: is not what `python -m benchmarks unchanged --write` writes")
    return facts


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks unchanged")
    parser.add_argument("--write", type=Path, metavar="FILE.json", help="keep what was found")
    parser.add_argument("--against", type=Path, metavar="FILE.json", help="name what differs from this file")
    parser.add_argument(
        "--only", choices=SECTIONS, nargs="+", metavar="SECTION", help="runs, drivers or verilog"
    )
    options = parser.parse_args(arguments)
    sections = options.only or tuple(SECTIONS)
    before = read(options.against) if options.against else None  # not after minutes of runs
    if options.write and not options.write.parent.is_dir():
        parser.error(f"--write {options.write}: there is no folder {options.write.parent}")
    begun = time.perf_counter()
    facts, failed = measure(sections)
    print(
        f"{len(facts['runs'])} runs, {len(facts['drivers'])} drivers, {len(facts['verilog'])} Verilog files, "
        f"{failed} failed; {time.perf_counter() - begun:.0f} s in all"
    )
    if options.write:
        options.write.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    lines = (
        [] if before is None else [*differences({section: before[section] for section in sections}, facts)]
    )
    for line in lines:
        print(line)
    if before is not None:
        print(f"{len(lines)} differences from {options.against}" if lines else "nothing changed")
    if failed or lines:
        sys.exit(1)
