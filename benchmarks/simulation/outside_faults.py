"""Faults from outside: damaged cache entries, processes that are killed, full disks, files without an end.

Each try is a command in a process of its own. Right is: the result (healed), or one line and the exit code of
its class; in 20 s after a signal nothing of it runs, and no temporary folder is left. What is tried is drawn
by a seed; the table says how many were as they should be, and what was not.

``python -m benchmarks outside_faults``, or alone with other numbers:
``python -m benchmarks.simulation.outside_faults --seed 7 --damages 20 --kills 10 --disks 5 --bombs 10``
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from axiloom.cache import cache_root

RUN = ("run", "matmul:16x16x16", "--accel", "v3_4", "--quiet")
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)
MEMORY = 4_000_000_000
"""Bytes that a command may have with a bomb."""
SOON_S = 20.0

Tries = Iterator[tuple[str, str]]
"""What was tried, and what was wrong with it (empty: nothing)."""


def axiloom(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    done: subprocess.CompletedProcess[str] = subprocess.run(  # type: ignore[call-overload]
        [sys.executable, "-m", "axiloom", *words],
        stdin=subprocess.DEVNULL,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    return done


def refused(done: subprocess.CompletedProcess[str], says: str) -> str:
    """Why it is no refusal in one line that `says` something."""
    lines = [line for line in done.stderr.splitlines() if line and "so far" not in line]
    if done.returncode in (0, 70) or not 0 < done.returncode < 64:
        return f"exit code {done.returncode}: {lines[-1:]}"
    if len(lines) != 1 or says not in lines[0]:
        return f"{len(lines)} lines, {lines[-1:]}"
    return ""


def used(folder: Path) -> Path:
    """A copy of the cache entries that `RUN` takes."""
    begun = time.time() - 1
    done = axiloom(*RUN)
    if done.returncode:
        sys.exit(f"the run fails as it is: {done.stderr}")
    for entry in cache_root().glob("*/[!.]*"):
        if entry.is_dir() and entry.stat().st_mtime >= begun and entry.parent.name != "zig":
            shutil.copytree(entry, folder / entry.parent.name / entry.name)
    (folder / "zig").symlink_to(cache_root() / "zig")
    return folder


def flip(file: Path, draw: random.Random) -> None:
    data = bytearray(file.read_bytes())
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    file.write_bytes(data)


DAMAGES: Mapping[str, Callable[[Path, random.Random], object]] = {
    "flipped": flip,
    "cut": lambda file, draw: os.truncate(file, draw.randrange(file.stat().st_size)),
    "emptied": lambda file, draw: os.truncate(file, 0),
    "deleted": lambda file, draw: file.unlink(),
}


def damages(count: int, draw: random.Random, work: Path) -> Tries:
    """A file of the cache, its date as before; the run heals it."""
    cache = used(work / "cache")
    environment = {**os.environ, "AXILOOM_CACHE": str(cache)}
    for _ in range(count):
        kind = draw.choice(sorted(one for one in cache.iterdir() if one.is_dir() and not one.is_symlink()))
        files = sorted(one for one in kind.rglob("*") if one.is_file() and one.stat().st_size)
        file, name = draw.choice(files), draw.choice(sorted(DAMAGES))
        before = file.stat()
        DAMAGES[name](file, draw)
        if file.exists():
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        done = axiloom(*RUN, env=environment)
        right = done.returncode == 0 and "equal to NumPy" in done.stdout
        yield (
            f"{kind.name}/{file.name} {name}",
            "" if right else f"exit code {done.returncode}: {done.stderr}",
        )


def running(mark: str) -> list[str]:
    """The programs whose environment has the mark."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                found += [(entry / "comm").read_text().strip()] if state not in "ZX" else []
        except OSError:
            continue
    return found


def kills(count: int, draw: random.Random, work: Path) -> Tries:
    """A signal to the command alone, at some time in a build with an empty cache."""
    for number in range(count):
        blow, wait = SIGNALS[number % len(SIGNALS)], draw.uniform(1, 12)
        cache, temporary = work / f"killed{number}", work / f"temporary{number}"
        temporary.mkdir()
        mark = f"AXILOOM_CACHE={cache}"
        process = subprocess.Popen(
            [sys.executable, "-m", "axiloom", *RUN],
            env={**os.environ, "AXILOOM_CACHE": str(cache), "TMPDIR": str(temporary)},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        time.sleep(wait)
        process.send_signal(blow)
        begun = time.monotonic()
        wrong = ""
        try:
            _, errors = process.communicate(timeout=SOON_S)
        except subprocess.TimeoutExpired:
            process.kill()
            _, errors = process.communicate()
            wrong = f"no end within {SOON_S:.0f} s"
        took = time.monotonic() - begun
        while (left := running(mark)) and time.monotonic() < begun + SOON_S:
            time.sleep(0.1)
        lines = [line for line in errors.splitlines() if "so far" not in line]
        expected = -blow if blow is signal.SIGKILL else 128 + blow
        folders = [str(one.relative_to(work)) for one in (*cache.glob("*/.*.*"), *temporary.iterdir())]
        folders = [one for one in folders if not one.endswith(".lock")]
        if not wrong and process.returncode != expected:
            wrong = f"exit code {process.returncode}, not {expected}"
        if not wrong and len(lines) != (blow is not signal.SIGKILL):
            wrong = f"{len(lines)} lines: {lines}"
        if not wrong and (left or folders):
            wrong = f"left behind: {', '.join([*left, *folders])}"
        yield f"{blow.name} after {wait:.1f} s (ended in {took:.1f} s)", wrong
        shutil.rmtree(cache, ignore_errors=True)


def disks(count: int, draw: random.Random, work: Path) -> Tries:
    """No place: for what is printed, for an output, for the cache (a small disk, or a limit for files)."""
    files = work / "full"
    files.mkdir()

    def small(kilobytes: int) -> subprocess.CompletedProcess[str]:
        run = f"exec {sys.executable} -m axiloom {' '.join(RUN)}"
        script = f"mount -t tmpfs -o size={kilobytes}k none {files} && {run}"
        command = ["unshare", "-rm", "sh", "-c", script]
        environment = {**os.environ, "AXILOOM_CACHE": str(files / "cache")}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def limited(kilobytes: int) -> subprocess.CompletedProcess[str]:
        import resource

        bytes_ = kilobytes << 10
        environment = {**os.environ, "AXILOOM_CACHE": str(work / f"limited{kilobytes}")}

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))

        return axiloom(*RUN, env=environment, preexec_fn=limit)

    mounts = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode == 0
    full = os.open("/dev/full", os.O_WRONLY)
    ways: list[tuple[str, Callable[[], subprocess.CompletedProcess[str]], str]] = [
        ("list > /dev/full", lambda: axiloom("list", stdout=full), "No space left"),
        (
            "spec show -o /dev/full",
            lambda: axiloom("spec", "show", "v3_4", "-o", "/dev/full"),
            "No space left",
        ),
    ]
    for _ in range(count - len(ways)):
        size = draw.choice((8, 100, 300, 1000, 3000))
        try_, what = (small, "disk") if mounts else (limited, "largest file")
        says = "No space left" if mounts else "File"
        ways.append((f"{what} of {size} KiB", lambda try_=try_, size=size: try_(size), says))  # type: ignore[misc]
    for what, way, says in ways[:count]:
        yield what, refused(way(), says)


def bombs(count: int, draw: random.Random, work: Path) -> Tries:
    """Files that have no end, unpack to much more than they are, or are nested without end."""
    (work / "deep.json").write_text("[" * 300_000)
    (work / "number.json").write_text('{"accelerators": [' + "9" * 300_000 + "]}")
    mlir = Path(__file__).with_name("outside_faults.mlir").read_text()
    (work / "packed.mlir").write_text(mlir)
    with zipfile.ZipFile(work / "packed.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        head = (
            b"\x93NUMPY\x01\0v\0"
            + b"{'descr': '<i4', 'fortran_order': False, 'shape': (99999, 99999)}".ljust(117)
            + b"\n"
        )
        with archive.open("w.npy", "w", force_zip64=True) as member:
            member.write(head)
            for _ in range(256):
                member.write(bytes(1 << 20))
    ways = [
        (device, kind)
        for device in ("/dev/zero", "/dev/urandom")
        for kind in ("json", "mlir", "isa", "rules", "toml")
    ]
    draw.shuffle(ways)
    commands = {
        "json": ("spec", "check"),
        "mlir": ("compile",),
        "isa": ("spec", "check"),
        "rules": ("prove", "rules"),
        "toml": ("run", "matmul:8x8x8", "--accel", "v3_4", "--board"),
    }
    tries = [("deep.json", ("spec", "check")), ("number.json", ("spec", "check"))]
    tries.append(("packed.mlir", ("run", "--accel", "v3_4")))
    for number, (device, kind) in enumerate(ways):
        name = f"endless{number}.{kind}"
        (work / name).symlink_to(device)
        tries.append((name, commands[kind]))

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    for name, words in tries[:count]:
        begun = time.monotonic()
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        done = axiloom(*words, name, cwd=work, preexec_fn=limit, timeout=90, env=environment)
        at = f"{' '.join(words)} {name} ({time.monotonic() - begun:.0f} s)"
        yield at, refused(done, name.replace("packed.mlir", "packed.npz"))


KINDS: Mapping[str, tuple[Callable[[int, random.Random, Path], Tries], int]] = {
    "damages": (damages, 20),
    "kills": (kills, 10),
    "disks": (disks, 5),
    "bombs": (bombs, 10),
}


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=35)
    for name, (_, count) in KINDS.items():
        parser.add_argument(f"--{name}", type=int, default=count)
    options = parser.parse_args(words or [])
    failed = 0
    print(f"seed {options.seed}")
    for name, (kind, _) in KINDS.items():
        wrong = []
        count = getattr(options, name)
        if not count:
            continue
        with tempfile.TemporaryDirectory(prefix="axiloom-outside-") as work:
            for what, why in kind(count, random.Random(f"{name} {options.seed}"), Path(work)):
                print(f"  {name}: {what}: {why or 'as it should be'}", flush=True)
                wrong += [why] if why else []
        failed += len(wrong)
        print(f"{name:<8} {count:>3} tried, {len(wrong)} not as they should be", flush=True)
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
