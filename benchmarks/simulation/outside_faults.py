"""Faults from outside: damaged cache entries, commands that are killed, full disks, bombs, odd paths.

Each try is a command in a process of its own. Right is: the result (healed), or one line and the exit code of
its class; in 20 s after a signal nothing of it runs, and no temporary folder is left. What is tried is drawn
by a seed; the table says how many were as they should be, and what was not.

``python -m benchmarks outside_faults``, or alone with other numbers:
``python -m benchmarks.simulation.outside_faults --seed 7 --damages 40 --kills 20``
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from axiloom.base.cache import cache_root

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
RUN = ("run", "matmul:16x16x16", "--accel", "v3_4", "--quiet")
PROVE = ("prove", "spec", "--accel", "v3_4")
NEST = ("nest", str(EXAMPLES / "loops" / "product.c"), "--run")
SELECT = (
    "run", str(EXAMPLES / "selection" / "attention.mlir"), "--select", "egraph",
    "--accel", str(EXAMPLES / "selection" / "rows32.isa"),
)  # fmt: skip
NETWORK = ("run", str(ROOT / "tests" / "fixtures" / "quantised" / "digits_cnn.mlir"))
PORTS = ("prove", "axi", "--rtl", str(EXAMPLES / "axi_ports" / "fetch.v"))
RESULTS: Mapping[tuple[str, ...], str] = {
    RUN: r"^Result: .*",
    PROVE: r"\d+ properties: [^;]*",
    NEST: r"^ *Result: .*",
    SELECT: r"^Result: .*",
    NETWORK: r"^Result: (?:equal to NumPy|.*)",  # then, whether it was so in this run or in an earlier one
    PORTS: r"\d+ properties: [^;]*",
}
"""Commands whose cache entries are damaged, and what of their output is the same with and without a cache."""
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)
MEMORY = 4_000_000_000
"""Bytes that a command may have with a bomb."""
SOON_S = 20.0
SLOW_S = 600.0
"""A command that takes longer hangs."""

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
        return f"exit code {done.returncode}: {lines[-4:]}"
    if len(lines) != 1 or says not in lines[0]:
        return f"{len(lines)} lines, {lines[-1:]}"
    return ""


def results(words: tuple[str, ...], done: subprocess.CompletedProcess[str]) -> list[str]:
    return re.findall(RESULTS[words], done.stdout, re.MULTILINE)


def used(words: tuple[str, ...], folder: Path) -> list[str]:
    """Which results a command has; the cache entries that it takes are copied to `folder`."""

    def run(cache: Path) -> tuple[list[str], list[Path]]:
        begun = time.time()
        done = axiloom(*words, env={**os.environ, "AXILOOM_CACHE": str(cache)})
        if done.returncode or not (right := results(words, done)):
            sys.exit(f"{' '.join(words)} fails as it is: {done.stdout}{done.stderr}")
        entries = [entry for entry in cache.glob("*/[!.]*") if entry.parent.name != "zig"]
        return right, [entry for entry in entries if entry.is_dir() and entry.stat().st_mtime >= begun]

    for entry in run(cache_root())[1]:
        shutil.copytree(entry, folder / entry.parent.name / entry.name)
    (folder / "zig").symlink_to(cache_root() / "zig")
    right, taken = run(folder)
    # Others may have used the same cache meanwhile.
    for kind in folder.iterdir():
        if not kind.is_symlink() and not any(entry.parent == kind for entry in taken):
            shutil.rmtree(kind)
    return right


def flip(file: Path, draw: random.Random) -> None:
    data = bytearray(file.read_bytes())
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    file.write_bytes(data)


def replace(file: Path, make: Callable[[Path], object]) -> None:
    file.unlink()
    make(file)


DAMAGES: Mapping[str, Callable[[Path, random.Random], object]] = {
    "flipped": flip,
    "cut": lambda file, draw: os.truncate(file, draw.randrange(file.stat().st_size)),
    "emptied": lambda file, draw: os.truncate(file, 0),
    "deleted": lambda file, draw: file.unlink(),
    "a folder": lambda file, draw: replace(file, Path.mkdir),
    "endless": lambda file, draw: replace(file, lambda path: path.symlink_to("/dev/zero")),
}


def damages(count: int, draw: random.Random, work: Path) -> Tries:
    """A file of the cache, its date as before; the command heals it. Every kind of entry has its turn."""
    right, entries = {}, []
    for number, words in enumerate(RESULTS):
        folder = work / f"cache{number}"
        right[words] = used(words, folder)
        entries += [(kind.name, words, folder) for kind in folder.iterdir() if not kind.is_symlink()]
    draw.shuffle(entries)
    kinds = {kind: [entry for entry in entries if entry[0] == kind] for kind, _, _ in entries}
    turns = sorted((turn, kind, entry) for kind, turns in kinds.items() for turn, entry in enumerate(turns))
    for _, kind, (_, words, folder) in turns[:count]:
        files = sorted(file for file in (folder / kind).rglob("*") if file.is_file() and file.stat().st_size)
        file, name = draw.choice(files), draw.choice(sorted(DAMAGES))
        before = file.stat()
        DAMAGES[name](file, draw)
        if file.is_file():
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        done = axiloom(*words, env={**os.environ, "AXILOOM_CACHE": str(folder)}, timeout=SLOW_S)
        healed = done.returncode == 0 and results(words, done) == right[words]
        why = "" if healed else f"exit code {done.returncode}: {results(words, done)} {done.stderr}"
        yield f"{' '.join(words[:2])}: {kind}/{file.name} {name}", why


def running(mark: str) -> list[str]:
    """Command lines of the programs whose environment has the mark."""
    lines = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                lines += [line[:200]] if state not in "ZX" else []
        except OSError:
            continue
    return lines


def is_ours(process: int) -> bool:
    """Whether Python has come to our code: until then it ends by a signal in its own way."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
    caught = int(re.findall(r"^SigCgt:\s*(\w+)", status, re.MULTILINE)[0], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


PHASES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "imports": (RUN, "-m axiloom"),
    "Verilator": (RUN, "verilator_bin"),
    "C++": (RUN, "cc1plus|clang"),
    "cross compiler": (RUN, "ziglang"),
    "solver": (PROVE, r"axiloom\.worker"),
    "simulation": (NEST, r"/nest/.*|cc1plus"),
    "egraph": (SELECT, r"axiloom\.worker"),
    "Yosys": (PORTS, "yosys"),
}
"""Of a command with an empty cache: a program that runs then."""


def heeding() -> None:
    """In a command that is started: the shell lets those in the background ignore SIGINT."""
    for number in SIGNALS[:-1]:
        signal.signal(number, signal.SIG_DFL)


def kills(count: int, draw: random.Random, work: Path) -> Tries:
    """A signal to the command alone, soon after a program of a phase has started."""
    phases = sorted(PHASES)
    draw.shuffle(phases)
    for number in range(count):
        # After a round of signals and phases the pairs are others.
        blow = SIGNALS[(number + number // len(phases)) % len(SIGNALS)]
        phase = phases[number % len(phases)]
        words, program = PHASES[phase]
        cache, temporary = work / f"killed{number}", work / f"temporary{number}"
        temporary.mkdir()
        mark = f"AXILOOM_CACHE={cache}"
        process = subprocess.Popen(
            [sys.executable, "-m", "axiloom", *words],
            env={**os.environ, "AXILOOM_CACHE": str(cache), "TMPDIR": str(temporary)},
            cwd=temporary,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=heeding,
        )  # fmt: skip
        while process.poll() is None and not (
            is_ours(process.pid) and any(re.search(program, line) for line in running(mark))
        ):
            time.sleep(0.02)
        time.sleep(draw.uniform(0, 0.5))
        wrong = "" if process.poll() is None else "it ended before"
        process.send_signal(blow)
        begun = time.monotonic()
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
        folders = [str(path.relative_to(work)) for path in (*cache.glob("*/.*.*"), *temporary.iterdir())]
        folders = [path for path in folders if not path.endswith(".lock")]
        if not wrong and process.returncode != expected:
            wrong = f"exit code {process.returncode}, not {expected}"
        if not wrong and len(lines) != (blow is not signal.SIGKILL):
            wrong = f"{len(lines)} lines: {lines}"
        if not wrong and (left or folders):
            wrong = f"left behind: {', '.join([*left, *folders])}"
        yield f"{blow.name} in {phase} of {' '.join(words[:2])} (ended in {took:.1f} s)", wrong
        shutil.rmtree(cache, ignore_errors=True)


def disks(count: int, draw: random.Random, work: Path) -> Tries:
    """No place: for what is printed, for an output, for the cache or temporary files (a small disk, or where
    none can be made a limit for files)."""
    files = work / "full"
    files.mkdir()

    def small(kilobytes: int, variable: str, words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        run = f"exec {shlex.join([sys.executable, '-m', 'axiloom', *words])}"
        script = f"mount -t tmpfs -o size={kilobytes}k none {files} && {run}"
        command = ["unshare", "-rm", "sh", "-c", script]
        environment = {**os.environ, variable: str(files)}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def limited(kilobytes: int, words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        import resource

        bytes_ = kilobytes << 10
        environment = {**os.environ, "AXILOOM_CACHE": str(work / f"limited{kilobytes}")}

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))

        return axiloom(*words, env=environment, preexec_fn=limit)

    mounts = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode == 0
    full = os.open("/dev/full", os.O_WRONLY)
    show = ("spec", "show", "v3_4", "-o", "/dev/full")
    for number in range(count):
        words, says = (RUN, NEST)[number // 2 % 2], "No space left"
        size = draw.choice((8, 100, 300, 1000, 3000))
        if number == 0:
            what, done = "list > /dev/full", axiloom("list", stdout=full)
        elif number == 1:
            what, done = " ".join(show), axiloom(*show)
        elif not mounts:
            what, done, says = f"largest file of {size} KiB", limited(size, words), "File"
        elif number % 2:
            size = draw.choice((4, 16, 50, 100, 200))
            what, done = f"TMPDIR of {size} KiB", small(size, "TMPDIR", words)
        else:
            what, done = f"cache of {size} KiB", small(size, "AXILOOM_CACHE", words)
        if number > 1:
            what = f"{' '.join(words[:2])}: {what}"
        fits = done.returncode == 0 and number > 1 and results(words, done)
        yield what, "" if fits else refused(done, says)


def packed(path: Path, megabytes: int) -> None:
    """An .npz whose array says little and unpacks to much."""
    head = (
        b"\x93NUMPY\x01\0v\0"
        + b"{'descr': '<i4', 'fortran_order': False, 'shape': (99999, 99999)}".ljust(117)
        + b"\n"
    )
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("w.npy", "w", force_zip64=True) as member,
    ):
        member.write(head)
        for _ in range(megabytes):
            member.write(bytes(1 << 20))


def nested(depth: int) -> bytes:
    """An ONNX file, by hand: `If` in `If`, each in a graph of a node of the graph before."""

    def field(number: int, data: bytes) -> bytes:
        size, length = len(data), b""
        while size > 127:
            length, size = length + bytes([size & 127 | 128]), size >> 7
        return bytes([number << 3 | 2]) + length + bytes([size]) + data

    graph = field(2, b"g")
    for _ in range(depth):
        branch = field(1, b"then_branch") + field(6, graph) + b"\xa0\x01\x05"
        graph = field(1, field(4, b"If") + field(5, branch)) + field(2, b"g")
    return b"\x08\x08" + field(7, graph) + field(8, b"\x10\x0d")


LOOP = "void f(int a[8]) {{ for (int i = 0; i < 8; i++) a[i] = {}; }}\n"
TEXTS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "deep.json": (("spec", "check"), "[" * 300_000),
    "number.json": (("spec", "check"), '{"accelerators": [' + "9" * 300_000 + "]}"),
    "deep.toml": (("run", "matmul:8x8x8", "--accel", "v3_4", "--board"), "a = " + "[" * 300_000),
    "deep.mlir": (("compile",), "module {\n" * 20_000),
    "deep.isa": (("spec", "check"), "(" * 100_000),
    "deep.c": (("nest",), LOOP.format("(" * 100_000 + "1" + ")" * 100_000)),
    "power.c": (("nest",), "#if 9**9**9**9 > 1\n#endif\n" + LOOP.format("1")),
    "itself.c": (("nest",), '#include "itself.c"\n' + LOOP.format("1")),
    "macros.c": (
        ("nest",),
        "#define A0 1 +\n"
        + "".join(f"#define A{n} {f'A{n - 1} ' * 10}\n" for n in range(1, 10))
        + LOOP.format("A9 1"),
    ),
    "macros.v": (
        ("spec", "from-rtl", "--top", "t"),
        "`define A0 x\n"
        + "".join(f"`define A{n} {f'`A{n - 1} ' * 10}\n" for n in range(1, 10))
        + "module t; wire `A9; endmodule\n",
    ),
    "itself.v": (("spec", "from-rtl", "--top", "t"), '`include "itself.v"\nmodule t; endmodule\n'),
}
ENDLESS = {
    "json": ("spec", "check"),
    "mlir": ("compile",),
    "isa": ("spec", "check"),
    "rules": ("prove", "rules"),
    "toml": ("run", "matmul:8x8x8", "--accel", "v3_4", "--board"),
    "c": ("nest",),
    "onnx": ("run", "--accel", "v3_4"),
    "v": ("spec", "from-rtl", "--top", "t"),
}


def bombs(count: int, draw: random.Random, work: Path) -> Tries:
    """Files that have no end, unpack to much more than they are, or are nested without end."""
    for name, (_, text) in TEXTS.items():
        (work / name).write_text(text)
    (work / "packed.mlir").write_text(Path(__file__).with_name("outside_faults.mlir").read_text())
    packed(work / "packed.npz", 256)
    (work / "deep.onnx").write_bytes(nested(2_000))
    tries = [(name, words) for name, (words, _) in TEXTS.items()]
    tries += [(name, ("run", "--accel", "v3_4")) for name in ("packed.mlir", "deep.onnx")]
    for kind, words in ENDLESS.items():
        device = draw.choice(("zero", "urandom"))
        (work / f"{device}.{kind}").symlink_to(f"/dev/{device}")
        tries.append((f"{device}.{kind}", words))
    draw.shuffle(tries)

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    for name, words in tries[:count]:
        begun = time.monotonic()
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        done = axiloom(*words, name, cwd=work, preexec_fn=limit, timeout=SLOW_S, env=environment)
        at = f"{' '.join(words)} {name} ({time.monotonic() - begun:.0f} s)"
        yield at, refused(done, name.replace("packed.mlir", "packed.npz"))


ODD = (
    "-",
    " a b",
    "'",
    '"',
    "$x",
    "#",
    "\n",
    "é",
    "%",
    ":",
    ";",
    "&",
    "\\",
    "(",
    "*",
    "`",
    "{",
    "=",
    "@",
    "~",
)


def paths(count: int, draw: random.Random, work: Path) -> Tries:
    """An empty cache, temporary files and the working folder in places with all these characters."""
    for _ in range(count):
        name = "".join(draw.sample(ODD, len(ODD)))
        here = work / name
        (here / "tmp").mkdir(parents=True)
        # Relative, so that one that begins with `-` is tried.
        environment = {**os.environ, "AXILOOM_CACHE": f"-{name}", "TMPDIR": str(here / "tmp")}
        done = axiloom(*RUN, cwd=here, env=environment)
        right = done.returncode == 0 and "equal to NumPy" in done.stdout
        yield repr(name), "" if right else f"exit code {done.returncode}: {done.stderr}"


KINDS: Mapping[str, tuple[Callable[[int, random.Random, Path], Tries], int]] = {
    "damages": (damages, 20),
    "kills": (kills, 10),
    "disks": (disks, 8),
    "bombs": (bombs, 21),
    "paths": (paths, 1),
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
